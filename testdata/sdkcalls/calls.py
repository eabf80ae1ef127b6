"""Makes the calls of a table with the platform's Python SDK, and prints a line of JSON for each."""

import inspect
import json
import re
import sys
import time

from alteia.core.resources.resource import Resource
from alteia.sdk import SDK

url, user, password, table, files, out = sys.argv[1:]

# Names of the documents, where the SDK has others.
NAMES = {
    "container_image": "docker_image",
    "container_credentials_name": "docker_credentials_name",
    "set_container_credentials": "set_docker_credentials",
    "cloud_access_key_id": "aws_access_key_id",
    "cloud_secret_access_key": "aws_secret_access_key",
    "cloud_region": "aws_region",
    "blob_client_id": "azure_client_id",
    "blob_tenant_id": "azure_tenant_id",
    "blob_client_secret": "azure_client_secret",
}
known = {"files": files, "out": out}


def resolve(value):
    """Put earlier results in the place of $name, $name.field, $name.1.field and $files/name."""
    if isinstance(value, dict):
        return {NAMES.get(k, resolve(k) if k[1:].split(".")[0] in known else k): resolve(v) for k, v in value.items()}
    if isinstance(value, list):
        return [resolve(v) for v in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    name, path, rest = re.match(r"\$(\w+)((?:\.\w+)*)(.*)", value).groups()
    found = known[name]
    for key in path.split(".")[1:]:
        found = found[int(key) - 1] if key.isdigit() else found[key]
    found = found["_id"] if isinstance(found, dict) else found
    return found + rest if rest else found


def plain(value):
    if isinstance(value, (str, int, float, type(None))):
        return value
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, (list, tuple)) or inspect.isgenerator(value):
        return [plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "isoformat"):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    fields = {k: plain(v) for k, v in vars(value).items()}
    if isinstance(value, Resource) and fields["id"] == fields["_id"]:
        del fields["id"]  # a second name
    return fields


def call(manager, operation, arguments):
    try:
        return {"result": plain(getattr(getattr(sdk, manager), operation)(**arguments))}
    except Exception as e:
        answered = {key: getattr(e, key, None) for key in ("status", "service", "code", "details")}
        return {"error": {"name": type(e).__name__, **answered}, "text": str(e)}


# One repetition, so that what is refused for good is not asked for during eight minutes.
sdk = SDK(url=url, user=user, password=password, connection={"disable_ssl_certificate": True, "max_retries": 1})
operations = [f"{m}.{o}" for m in vars(sdk) if not m.startswith("_") for o in dir(getattr(sdk, m)) if o[0].islower()]
print(json.dumps({"operations": operations}))
for line in open(table, encoding="utf-8"):
    match = re.match(r"(?:(\w+) = )?(\w+)\.(\w+) (\{.*\})(?: until (\S+) = (\S+))?$", line)
    if not match:
        continue
    name, manager, operation, arguments, path, wanted = match.groups()
    arguments = resolve(json.loads(arguments))
    for _ in range(600):
        answer = call(manager, NAMES.get(operation, operation), arguments)
        value = answer.get("result")
        for key in path.split(".") if path else ():
            value = value.get(key) if value else None
        if not path or str(value) == wanted:
            break
        time.sleep(0.05)
    known[name] = answer.get("result")
    print(json.dumps(answer), flush=True)
