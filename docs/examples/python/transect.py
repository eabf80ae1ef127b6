"""Runs a Lua script with transect and returns what it printed as JSON."""
import json, os, subprocess, tempfile


class TransectError(Exception):
    """A run that did not succeed. name is that of the Lua error, report the whole report."""

    def __init__(self, code, report):
        error = report.get("end", {}).get("error", {})
        self.code, self.report, self.hint = code, report, error.get("hint")
        self.name = error.get("name", "UsageError" if code == 2 else "Error")
        super().__init__(f"{self.name}: {error.get('message', f'exit code {code}')}")


def run(script, *arguments, flags=()):
    """Returns (result, report): the JSON value on standard output, None when there is none, and the run's report."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        done = subprocess.run(["transect", "run", "--report", path, *flags, script, *arguments], stdout=subprocess.PIPE)
        report = json.load(open(path, encoding="utf-8")) if os.path.exists(path) else {}
    if done.returncode != 0:
        raise TransectError(done.returncode, report)
    return json.loads(done.stdout) if done.stdout.strip() else None, report
