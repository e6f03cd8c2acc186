#!/usr/bin/env python3
"""Writes a Python module from a service's OpenAPI document: one method for each operation, standard library only.

usage: generate_client.py DOCUMENT > zbs_zone.py     (DOCUMENT: what a zone gives as /openapi.json, or schemas/bundle.py zone writes)
"""
import json
import keyword
import re
import sys
import textwrap

HEAD = '''"""{title}, version {version}. Generated from its OpenAPI document: do not edit."""
import http.client
import json
import ssl
import urllib.parse


class Problem(Exception):
    """An answer of 400 and more: `status`, and `problem` as of RFC 9457."""

    def __init__(self, status, problem):
        super().__init__(f"{{status}}: {{problem.get('detail', problem) if isinstance(problem, dict) else problem}}")
        self.status, self.problem = status, problem


def user_context(credentials):
    """TLS as the user of a folder that `zbs login` wrote."""
    context = ssl.create_default_context(cafile=f"{{credentials}}/bundle.pem")
    context.check_hostname = False  # services are known by the URI in their certificate, which the bundle's CA vouches for
    context.load_cert_chain(f"{{credentials}}/certificate.pem", f"{{credentials}}/key.pem")
    return context


class Client:
    """`url` as https://HOST:PORT with a `context`; or http://127.0.0.1:PORT with `headers` Zbs-Identity and Zbs-Token."""

    def __init__(self, url, context=None, headers=None, timeout_s=30):
        self.url, self.context, self.headers, self.timeout_s = urllib.parse.urlsplit(url), context, dict(headers or {{}}), timeout_s

    def _call(self, method, path, query, body, text):
        target = path + ("?" + urllib.parse.urlencode({{k: str(v).lower() if isinstance(v, bool) else v for k, v in query.items() if v is not None}}) if query else "")
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.url.hostname, self.url.port, timeout=self.timeout_s, **({{"context": self.context}} if self.url.scheme == "https" else {{}}))
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, target, data, dict(self.headers, **({{"Content-Type": "application/json"}} if data is not None else {{}})))
            answer = connection.getresponse()
            content = answer.read().decode(errors="replace")
        finally:
            connection.close()
        if answer.status >= 400:
            raise Problem(answer.status, json.loads(content) if content.startswith("{{") else content)
        return content if text or not content else json.loads(content)
'''


def snake(name):
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
    return name + "_" if keyword.iskeyword(name) else name


def method_text(path, verb, operation, shared):
    parameters = [*shared, *operation.get("parameters", [])]
    in_path = [p["name"] for p in parameters if p["in"] == "path"]
    in_query = [p["name"] for p in parameters if p["in"] == "query"]
    has_body = "requestBody" in operation
    takes_text = not any("json" in kind for code, answer in operation["responses"].items() if code.startswith("2") for kind in answer.get("content", {"json": 0}))
    arguments = ["self", *map(snake, in_path), *(["body"] if has_body else []), *(["*"] if in_query else []), *(f"{snake(name)}=None" for name in in_query)]
    target = "f" + json.dumps(re.sub(r"{([^}]+)}", lambda m: "{urllib.parse.quote(str(" + snake(m.group(1)) + "), safe='')}", path)) if in_path else json.dumps(path)
    query = "{" + ", ".join(f"{json.dumps(name)}: {snake(name)}" for name in in_query) + "}"
    summary = textwrap.fill(operation.get("summary", "").replace("\\", "").replace('"""', ""), 140)
    return (f"\n    def {snake(operation['operationId'])}({', '.join(arguments)}):\n        \"\"\"{summary}\"\"\"\n"
            f"        return self._call({json.dumps(verb.upper())}, {target}, {query}, {'body' if has_body else 'None'}, {takes_text})\n")


def module_text(document):
    text = HEAD.format(title=document["info"]["title"], version=document["info"]["version"])
    for path, item in document["paths"].items():
        for verb in ("get", "post", "put", "patch", "delete"):
            if verb in item:
                text += method_text(path, verb, item[verb], item.get("parameters", []))
    return text


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(module_text(json.load(file)))
