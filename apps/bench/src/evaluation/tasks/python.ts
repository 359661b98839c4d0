import { changed, type EvaluationTask, edit, lines, readFile } from "../evaluation-task.ts";

const base = { language: "python", fileName: "module.py" } as const;

const account = lines(
  "class Account:",
  "    def __init__(self, balance):",
  "        self.balance = balance",
  "",
  "    def withdraw(self, amount):",
  "        self.balance -= amount",
  "        return self.balance",
);

const tabbed = lines(
  "def walk(node):",
  "\tfor child in node.children:",
  "\t\tif child.visible:",
  "\t\t\tyield child",
);

const trailing = [
  "def load(path):   ",
  "    data = open(path).read()  ",
  "    return data",
  "",
].join("\n");

const table = lines("RATES = {", "    'eur': 1.0,", "    'usd': 1.1,", "    'gbp': 0.9,", "}");

const crlf = ["import os", "", "def home():", "    return os.environ['HOME']", ""].join("\r\n");

const message = lines(
  "def describe(user):",
  "    text = 'Name: ' + user.name",
  "    text += '\\n'",
  "    text += 'Mail: ' + user.mail",
  "    return text",
);

export const pythonTasks: readonly EvaluationTask[] = [
  {
    ...base,
    name: "py-dedented",
    form: "a block without its own indentation",
    start: account,
    expected: changed(account, [
      [
        "        self.balance -= amount\n",
        "        if amount > self.balance:\n            raise ValueError('insufficient funds')\n        self.balance -= amount\n",
      ],
    ]),
    task: "In FILE, let `withdraw` begin with these two lines, indented as they must be there:\n\nif amount > self.balance:\n    raise ValueError('insufficient funds')\n\nChange nothing else.",
    scripted: [
      readFile,
      edit(
        "def withdraw(self, amount):\n    self.balance -= amount\n    return self.balance",
        "def withdraw(self, amount):\n    if amount > self.balance:\n        raise ValueError('insufficient funds')\n    self.balance -= amount\n    return self.balance",
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "py-tabs",
    form: "spaces for the file's tabs",
    start: tabbed,
    expected: changed(tabbed, [
      ["\t\t\tyield child\n", "\t\t\tyield child\n\t\t\tyield from walk(child)\n"],
    ]),
    task: "In FILE, add the line `yield from walk(child)` after `yield child`, in the same block. Change nothing else.",
    scripted: [
      readFile,
      edit(
        "        if child.visible:\n            yield child",
        "        if child.visible:\n            yield child\n            yield from walk(child)",
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "py-trailing-blanks",
    form: "no blanks at line ends, where the file has some",
    start: trailing,
    expected: changed(trailing, [["return data", "return data.strip()"]]),
    task: "In FILE, let `load` return `data.strip()`. Keep all other lines byte for byte, blanks at their ends included.",
    scripted: [
      readFile,
      edit(
        "def load(path):\n    data = open(path).read()\n    return data",
        "def load(path):\n    data = open(path).read()\n    return data.strip()",
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "py-edits-as-text",
    form: "a list of edits as JSON text",
    start: table,
    expected: changed(table, [
      ["'usd': 1.1", "'usd': 1.2"],
      ["'gbp': 0.9", "'gbp': 0.8"],
    ]),
    task: "In FILE, set the rate of 'usd' to 1.2 and that of 'gbp' to 0.8. Change nothing else.",
    scripted: [
      readFile,
      {
        name: "edit",
        arguments: {
          path: "FILE",
          edits: JSON.stringify([
            { oldText: "'usd': 1.1", newText: "'usd': 1.2" },
            { oldText: "'gbp': 0.9", newText: "'gbp': 0.8" },
          ]),
        },
      },
    ],
  },
  {
    ...base,
    name: "py-crlf",
    form: "LF for the file's CR LF",
    start: crlf,
    expected: changed(crlf, [["os.environ['HOME']", "os.environ.get('HOME', '/')"]]),
    task: "In FILE, return `os.environ.get('HOME', '/')` instead. Keep the line ends of the file (CR LF), and change nothing else.",
    scripted: [
      readFile,
      edit(
        "def home():\n    return os.environ['HOME']",
        "def home():\n    return os.environ.get('HOME', '/')",
      ),
    ],
  },
  {
    ...base,
    name: "py-escaped-twice",
    form: "arguments that were escaped twice",
    start: message,
    expected: changed(message, [["'\\n'", "'\\n\\n'"]]),
    task: "In FILE, separate name and mail by two line breaks (`'\\n\\n'`) instead of one. Change nothing else.",
    scripted: [
      readFile,
      edit(
        "    text += '\\\\n'\\n    text += 'Mail: '",
        "    text += '\\\\n\\\\n'\\n    text += 'Mail: '",
        "loose",
      ),
    ],
  },
];
