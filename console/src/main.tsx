import { render } from "preact";
import { App } from "./app";
import { speak, tongue } from "./i18n";
import { applyTheme } from "./theme";

speak(tongue.now);
applyTheme();
const place = document.getElementById("app");
if (place) render(<App />, place);
