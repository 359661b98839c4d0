import { changed, type EvaluationTask, edit, lines, readFile } from "../evaluation-task.ts";

const base = { language: "rust", fileName: "module.rs" } as const;

const parse = lines(
  "pub fn parse(text: &str) -> Option<u32> {",
  "    match text.trim().parse() {",
  "        Ok(value) => Some(value),",
  "        Err(_) => None,",
  "    }",
  "}",
);

const format = lines(
  "pub fn show(name: &str, size: usize) -> String {",
  '    format!("{name}: {size} \\"bytes\\"")',
  "}",
);

const shapes = lines(
  "pub enum Shape {",
  "    Circle(f64),",
  "    Square(f64),",
  "}",
  "",
  "pub fn area(shape: &Shape) -> f64 {",
  "    match shape {",
  "        Shape::Circle(radius) => 3.14 * radius * radius,",
  "        Shape::Square(side) => side * side,",
  "    }",
  "}",
);

const limits = lines("pub const LIMIT: usize = 10;", "pub const RETRIES: usize = 3;");

const counter = lines(
  "pub struct Counter {",
  "    count: u64,",
  "}",
  "",
  "impl Counter {",
  "    pub fn next(&mut self) -> u64 {",
  "        self.count += 1;",
  "        self.count",
  "    }",
  "}",
);

const nbsp = lines("/// Between\u00A01 and\u00A010.", "pub const RANGE: u8 = 5;");

export const rustTasks: readonly EvaluationTask[] = [
  {
    ...base,
    name: "rs-tabs-for-spaces",
    form: "tabs for the file's spaces",
    start: parse,
    expected: changed(parse, [
      [
        "        Err(_) => None,\n",
        "        Err(_) if text.is_empty() => Some(0),\n        Err(_) => None,\n",
      ],
    ]),
    task: "In FILE, add the arm `Err(_) if text.is_empty() => Some(0),` before the arm `Err(_) => None,`. Change nothing else.",
    scripted: [
      readFile,
      edit(
        "\t\tOk(value) => Some(value),\n\t\tErr(_) => None,",
        "\t\tOk(value) => Some(value),\n\t\tErr(_) if text.is_empty() => Some(0),\n\t\tErr(_) => None,",
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "rs-escaped-quotes",
    form: "quotes that were escaped once more",
    start: format,
    expected: changed(format, [["{size} ", "{size} large "]]),
    task: 'In FILE, put the word "large" and a blank after `{size} ` in the format string. Change nothing else.',
    scripted: [
      readFile,
      edit(
        'format!(\\"{name}: {size} \\\\\\"bytes\\\\\\"\\")',
        'format!(\\"{name}: {size} large \\\\\\"bytes\\\\\\"\\")',
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "rs-overlapping",
    form: "edits that overlap, then one edit",
    start: shapes,
    expected: changed(shapes, [
      ["    Square(f64),\n}", "    Square(f64),\n    Line(f64),\n}"],
      ["side * side,\n", "side * side,\n        Shape::Line(_) => 0.0,\n"],
    ]),
    task: "In FILE, add a last variant `Line(f64),` to the enum and, as the last arm of the match, `Shape::Line(_) => 0.0,`. Change nothing else.",
    scripted: [
      readFile,
      {
        name: "edit",
        outcome: "refused",
        arguments: {
          path: "FILE",
          edits: [
            { oldText: "    Square(f64),\n}", newText: "    Square(f64),\n    Line(f64),\n}" },
            { oldText: "Square(f64),\n}\n\npub fn", newText: "Square(f64),\n}\n\npub fn new" },
          ],
        },
      },
      {
        name: "edit",
        arguments: {
          path: "FILE",
          edits: [
            { oldText: "    Square(f64),\n}", newText: "    Square(f64),\n    Line(f64),\n}" },
            {
              oldText: "side * side,",
              newText: "side * side,\n        Shape::Line(_) => 0.0,",
            },
          ],
        },
      },
    ],
  },
  {
    ...base,
    name: "rs-edits-as-object",
    form: "one edit where a list belongs",
    start: limits,
    expected: changed(limits, [["RETRIES: usize = 3", "RETRIES: usize = 5"]]),
    task: "In FILE, set `RETRIES` to 5. Change nothing else.",
    scripted: [
      readFile,
      {
        name: "str_replace",
        arguments: {
          path: "FILE",
          edits: { oldText: "RETRIES: usize = 3", newText: "RETRIES: usize = 5" },
        },
      },
    ],
  },
  {
    ...base,
    name: "rs-inserted-method",
    form: "a new method written without the indentation of the file",
    start: counter,
    expected: changed(counter, [
      [
        "        self.count\n    }\n",
        "        self.count\n    }\n\n    pub fn reset(&mut self) {\n        self.count = 0;\n    }\n",
      ],
    ]),
    task: "In FILE, add a method after `next`, with an empty line between them:\n\npub fn reset(&mut self) {\n    self.count = 0;\n}\n\nChange nothing else.",
    scripted: [
      readFile,
      edit(
        "pub fn next(&mut self) -> u64 {\n    self.count += 1;\n    self.count\n}",
        "pub fn next(&mut self) -> u64 {\n    self.count += 1;\n    self.count\n}\n\npub fn reset(&mut self) {\n    self.count = 0;\n}",
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "rs-odd-spaces",
    form: "plain spaces for spaces that do not break",
    start: nbsp,
    expected: changed(nbsp, [["RANGE: u8 = 5", "RANGE: u8 = 7"]]),
    task: "In FILE, set `RANGE` to 7. Keep the comment byte for byte: it has spaces that do not break.",
    scripted: [
      readFile,
      edit(
        "/// Between 1 and 10.\npub const RANGE: u8 = 5;",
        "/// Between 1 and 10.\npub const RANGE: u8 = 7;",
        "loose",
      ),
    ],
  },
];
