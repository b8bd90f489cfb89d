#!/usr/bin/env python3
"""Chromium without a screen, driven over its debugging pipe with Python's own library alone.

    with Browser() as browser:
        page = browser.open(path, width, height)
        page.ask("document.title"); page.key("+"); page.click("#whole"); page.picture("page.png")

What the page says on its console as an error, throws, or asks a network for, is in page.errors.
"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

# A dispatched event may be answered before the page has seen it: the page notes the last one.
WATCH = """
for (const kind of ['pointermove', 'pointerdown', 'pointerup', 'wheel'])
  window.addEventListener(kind, (e) => { window.lastPointed = [kind, e.clientX, e.clientY]; },
    { capture: true, passive: true });
"""
SEEN_AS = {
    "mouseMoved": "pointermove",
    "mousePressed": "pointerdown",
    "mouseReleased": "pointerup",
    "mouseWheel": "wheel",
}
NAMES = ("chromium", "chromium-browser", "google-chrome")
LIMIT_S = 60


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="browser.")
        reads, self.to = os.pipe()
        self.at, writes = os.pipe()
        # The pipe is at descriptors 3 and 4, whatever the numbers are here.
        switches = (
            "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
            "--disable-background-networking --hide-scrollbars --force-device-scale-factor=1"
        )
        command = 'exec "$0" %s --user-data-dir="$1" --remote-debugging-pipe 3<&%d 4>&%d' % (
            switches,
            reads,
            writes,
        )
        self.process = subprocess.Popen(
            ["bash", "-c", command, find(), self.home],
            pass_fds=(reads, writes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reads)
        os.close(writes)
        self.count, self.rest, self.pages = 0, b"", {}
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (OSError, EOFError, TimeoutError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.at)
        shutil.rmtree(self.home, ignore_errors=True)

    def receive(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.at], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.at, 1 << 16)
            if not part:
                raise EOFError("the browser is gone")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data) :]
        until = time.monotonic() + LIMIT_S
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            if answer.get("sessionId") in self.pages:
                self.pages[answer["sessionId"]].hear(answer["method"], answer["params"])

    def open(self, path, width, height, phone=False):
        return Page(self, path, width, height, phone)


class Page:
    def __init__(self, browser, path, width, height, phone):
        self.browser, self.errors, self.loaded = browser, [], False
        self.address = pathlib.Path(path).resolve().as_uri()
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        browser.pages[self.session] = self
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(domain + ".enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        self.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        self.loaded = False
        self.call("Page.navigate", url=self.address)
        while not (self.loaded and self.ask("location.href") == self.address):
            self.ask("0")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def hear(self, method, what):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "assert"):
            self.errors.append(json.dumps(what["args"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.errors.append(what["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            address = what["request"]["url"]
            if address != self.address and not address.startswith(("about:", "data:")):
                self.errors.append("asks for " + address)

    def ask(self, expression):
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def text(self, selector):
        return self.ask("document.querySelector(%s).textContent" % json.dumps(selector))

    def box(self, selector):
        return self.ask(
            "(async () => { const e = document.querySelector(%s); e.scrollIntoView({block: "
            "'center', behavior: 'instant'}); await new Promise(requestAnimationFrame); "
            "const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()"
            % json.dumps(selector)
        )

    def mouse(self, kind, x, y, **more):
        """One event, seen by the page when this returns; a move that got lost is sent again."""
        self.ask("window.lastPointed = null")
        until = time.monotonic() + LIMIT_S
        again = 0
        while not self.has_seen(kind, x, y):
            now = time.monotonic()
            if now > until:
                raise TimeoutError("the page does not see %s at %g, %g" % (kind, x, y))
            if again == 0 or (kind == "mouseMoved" and now > again):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
                again = now + 2

    def until(self, expression):
        """Waits until the page says that it is true."""
        until = time.monotonic() + LIMIT_S
        while not self.ask(expression):
            if time.monotonic() > until:
                raise TimeoutError("the page never has " + expression)

    def has_seen(self, kind, x, y):
        seen = self.ask("window.lastPointed")
        return bool(seen) and (
            seen[0] == SEEN_AS[kind] and abs(seen[1] - x) <= 1 and abs(seen[2] - y) <= 1
        )

    def click_at(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def click(self, selector):
        x, y, width, height = self.box(selector)
        self.click_at(x + width / 2, y + height / 2)

    def key(self, key):
        more = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)[
            "data"
        ]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
