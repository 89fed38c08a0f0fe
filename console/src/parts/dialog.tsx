// A modal question; the browser keeps the focus inside, and gives it back.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useName, type Acting } from "../hooks";
import { t } from "../i18n";
import { Problem } from "./basics";

export function Dialog(props: {
  title: string;
  ok: string;
  danger?: boolean;
  action: Acting;
  onOk: () => void;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const box = useRef<HTMLDialogElement>(null);
  const name = useName("dialog");
  useEffect(() => {
    const shown = box.current;
    const from = document.activeElement;
    if (shown && !shown.open) shown.showModal();
    return () => {
      shown?.close();
      if (from instanceof HTMLElement && from.isConnected) from.focus();
    };
  }, []);
  return (
    <dialog
      ref={box}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          props.onOk();
        }}
      >
        <h2 id={name}>{props.title}</h2>
        {props.children}
        <Problem error={props.action.error} />
        <div class="buttons">
          <button type="submit" class={props.danger ? "danger" : "primary"} disabled={props.action.busy}>
            {props.ok}
          </button>
          <button type="button" onClick={props.onClose}>
            {t("cancel")}
          </button>
        </div>
      </form>
    </dialog>
  );
}
