"""The victim of test_kills: several users write, a worker enriches, each acknowledgement is told on standard output."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from rearview.adapters.models.hashing import HashingEmbedder
from rearview.bootstrap import embedded
from rearview.domain.principal import LOCAL
from rearview.entrypoints.worker import Worker
from rearview.settings import Settings
from rearview.usecases.commands import WriteMemory
from rearview.usecases.fields import read


def main() -> None:
    folder, start = Path(sys.argv[1]), int(sys.argv[2])
    runtime = embedded(Settings(data=folder), embedder=HashingEmbedder())
    Worker(runtime).start()
    lock, count = threading.Lock(), [start]
    os.write(1, b"ready\n")

    def writer(user: str) -> None:
        while True:
            with lock:
                count[0] += 1
                number = count[0]
            # Written before the call: what was tried but not acknowledged may or may not be there.
            os.write(1, f"try {user} {number}\n".encode())
            request = read(
                WriteMemory,
                {
                    "user_id": user,
                    "content": f"Ticket {number:06d}: 用户 {user} prefers slot {number * 7 % 9973}",
                    "admission": "force",
                    "metadata": {"ref": number},
                },
            )
            answer = runtime.app.writer.write(LOCAL, request)[1]
            os.write(1, f"ack {user} {number} {answer['id']}\n".encode())

    for number in range(4):
        threading.Thread(target=writer, args=(f"user{number}",), daemon=True).start()
    threading.Event().wait()


main()
