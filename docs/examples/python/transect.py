"""Runs a Lua script with transect and returns what it printed as JSON."""
import json, os, subprocess, tempfile


class TransectError(Exception):
    """A run that did not succeed. name is that of the Lua error, report and result are as run returns them."""

    def __init__(self, code, report, result):
        error = report.get("end", {}).get("error", {})
        self.code, self.report, self.result, self.hint = code, report, result, error.get("hint")
        self.name = error.get("name", "UsageError" if code == 2 else "Error")
        super().__init__(f"{self.name}: {error.get('message', f'exit code {code}')}")


def run(script, *arguments, flags=()):
    """Returns (result, report): the JSON value on standard output, its text when it is none, and the run's report."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        done = subprocess.run(["transect", "run", "--report", path, *flags, script, *arguments], stdout=subprocess.PIPE)
        report = json.load(open(path, encoding="utf-8")) if os.path.exists(path) else {}
    result = done.stdout.decode()
    try:
        result = json.loads(result)
    except ValueError:
        pass
    if done.returncode != 0:
        raise TransectError(done.returncode, report, result)
    return result, report
