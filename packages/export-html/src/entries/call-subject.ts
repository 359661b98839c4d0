import { jsonText } from "./facts.ts";

type Fields = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const subjects: Readonly<Record<string, (parameters: Fields) => string>> = {
  read: ({ path, offset, limit }) => {
    if (offset === undefined && limit === undefined) return text(path);
    const from = Number(offset ?? 1);
    return `${text(path)}:${from}${limit === undefined ? "" : `–${from + Number(limit) - 1}`}`;
  },
  write: ({ path }) => text(path),
  edit: ({ path }) => text(path),
  ls: ({ path }) => text(path) || ".",
  bash: ({ command }) => text(command),
  grep: ({ pattern, path }) => [text(pattern), text(path)].filter(Boolean).join(" in "),
  find: ({ pattern, path }) => [text(pattern), text(path)].filter(Boolean).join(" in "),
  todo_write: () => "",
  task: ({ description, task, tasks }) =>
    text(description) || text(task) || `${Array.isArray(tasks) ? tasks.length : "several"} tasks`,
};

export function hasSubject(tool: string): boolean {
  return Object.hasOwn(subjects, tool);
}

/** The subject of a call: its path, command or pattern; otherwise its arguments. */
export function callSubject(tool: string, parameters: Fields): string {
  const subject = hasSubject(tool) ? subjects[tool]?.(parameters) : undefined;
  return subject ?? argumentsOf(parameters);
}

function argumentsOf(parameters: Fields): string {
  const values = Object.entries(parameters).map(([key, value]) =>
    typeof value === "string" ? `${key}: ${value}` : `${key}: ${jsonText(value)}`,
  );
  return values.join(", ");
}
