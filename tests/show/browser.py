"""A real headless Chromium, spoken to over its debugging pipe: no driver, no extra package.

    with Chromium(tmp_path) as browser:
        browser.open(page)
        browser.run("document.title")  ->  "Trip 17 - tiny"

Every console message, uncaught error and request of the page is gathered as it happens.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
PATIENCE_S = 30.0


class Chromium:
    """One browser with one tab."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting = b""
        self._number = 0
        self._loads = 0
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def __enter__(self) -> Self:
        program = shutil.which("chromium")
        assert program, "install chromium: apt-get update && apt-get install -y chromium"
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        command = [program, *SWITCHES, f"--user-data-dir={self._folder}", "about:blank"]
        # Chromium listens on descriptor 3 and answers on descriptor 4.
        shell = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        target = self._tab()
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session = ""
        self._call("Browser.close")
        self._process.wait(PATIENCE_S)
        os.close(self._to)
        os.close(self._from)

    def open(self, page: Path) -> None:
        """Open a file and wait until it has loaded and drawn its first frame."""
        before = self._loads
        self._call("Page.navigate", url=page.as_uri())
        while self._loads == before:  # until then scripts could run in the page before
            self._note(self._next())
        self.settle()

    def settle(self) -> None:
        """Wait for two frames, so that what was asked for is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression; an error in it is an AssertionError."""
        answer = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript condition holds."""
        until = time.monotonic() + PATIENCE_S
        while not self.run(condition):
            assert time.monotonic() < until, f"never true: {condition}"
            time.sleep(0.02)

    def look(self, *, width: int, height: int, scheme: str) -> None:
        """Give the window a size and the light or dark colour scheme."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._call("Emulation.setEmulatedMedia", features=[feature])
        self.settle()

    def click(self, x: float, y: float) -> None:
        """Click with the mouse at a place of the window."""
        self.point_at(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def point_at(self, x: float, y: float) -> None:
        """Move the mouse to a place of the window."""
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()

    def drag(self, x: float, y: float, dx: float, dy: float) -> None:
        """Press the mouse at a place, move it and let go."""
        place = {"button": "left", "clickCount": 1}
        self._call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **place)
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x + dx, y=y + dy, **place)
        self._call("Input.dispatchMouseEvent", type="mouseReleased", x=x + dx, y=y + dy, **place)
        self.settle()

    def wheel(self, x: float, y: float, down: float) -> None:
        """Turn the wheel at a place; negative is away from the hand."""
        self._call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=down)
        self.settle()

    def press(self, key: str) -> None:
        """Press a key where the focus is."""
        code = {"Tab": 9, "Enter": 13, " ": 32, "Escape": 27}.get(key, 0)
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        self._call(
            "Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code
        )
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
        self.settle()

    def type(self, text: str) -> None:
        """Type letters where the focus is."""
        self._call("Input.insertText", text=text)
        self.settle()

    def download_to(self, folder: Path) -> None:
        """Let files that the page offers fall into a folder."""
        self._call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def choose(self, selector: str, file: Path) -> None:
        """Choose a file in a file input, as a person does in the system's dialog."""
        found = self._call("Runtime.evaluate", expression=f"document.querySelector('{selector}')")
        handle = found["result"]["objectId"]
        self._call("DOM.setFileInputFiles", files=[str(file)], objectId=handle)
        self.settle()

    def before_pages(self, script: str) -> str:
        """Run a script in every page before its own; returns the handle to take it back."""
        added = self._call("Page.addScriptToEvaluateOnNewDocument", source=script)
        return str(added["identifier"])

    def no_longer_before_pages(self, handle: str) -> None:
        """Take a script of `before_pages` back."""
        self._call("Page.removeScriptToEvaluateOnNewDocument", identifier=handle)

    def picture(self, target: Path) -> None:
        """Write a PNG of the window."""
        image = self._call("Page.captureScreenshot", format="png")["data"]
        target.write_bytes(base64.b64decode(image))

    # ---- the pipe -------------------------------------------------------------------------------

    def _tab(self) -> str:
        self._session = ""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            for target in self._call("Target.getTargets")["targetInfos"]:
                if target["type"] == "page":
                    return str(target["targetId"])
            time.sleep(0.02)
        raise AssertionError("chromium opened no tab")

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            ready, _, _ = select.select([self._from], [], [], PATIENCE_S)
            assert ready, "chromium does not answer"
            piece = os.read(self._from, 1 << 16)
            assert piece, "chromium has gone"
            self._waiting += piece
        message, self._waiting = self._waiting.split(b"\0", 1)
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Page.loadEventFired":
                self._loads += 1
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled" | "Log.entryAdded":
                self.complaints.append(json.dumps(params))
