/** The names that models trained with other hosts' tools use for a tool and its arguments. */
export interface ToolAliases {
  /** Other names of the tool. Case, `_` and `-` are ignored, so `Bash` needs no entry. */
  readonly names: readonly string[];
  /** Other names of arguments, including arguments inside lists: the real name, optionally with a conversion. */
  readonly arguments: Readonly<
    Record<string, string | readonly [string, (value: unknown) => unknown]>
  >;
}

const file = {
  file_path: "path",
  filePath: "path",
  filepath: "path",
  file: "path",
  filename: "path",
  file_name: "path",
  target_file: "path",
  absolute_path: "path",
} as const;

const folder = {
  dir: "path",
  dir_path: "path",
  directory: "path",
  folder: "path",
  target_directory: "path",
  relative_workspace_path: "path",
} as const;

const count = { head_limit: "limit", max_results: "limit", maxResults: "limit" } as const;

const toSeconds = (milliseconds: unknown): unknown => {
  const value = Number(milliseconds);
  return Number.isFinite(value) ? value / 1000 : milliseconds;
};

/**
 * A name is an alias only if no loaded tool has it; an argument's alias applies only if the tool's schema does not have
 * it. A tool that does several things under one name (view, create and replace) is left out, because its calls cannot
 * be distinguished by name.
 */
export const toolAliases: Readonly<Record<string, ToolAliases>> = {
  read: {
    names: ["read_file", "view_file", "open_file", "view"],
    arguments: { ...file, start_line: "offset", line_count: "limit", num_lines: "limit" },
  },
  bash: {
    names: [
      "shell",
      "local_shell",
      "run_shell_command",
      "run_terminal_cmd",
      "run_terminal_command",
      "run_command",
      "run_bash",
      "execute_bash",
      "execute_command",
      "exec_command",
      "terminal",
    ],
    arguments: {
      cmd: "command",
      script: "command",
      shell_command: "command",
      timeout_seconds: "timeout",
      timeout_ms: ["timeout", toSeconds],
      timeoutMs: ["timeout", toSeconds],
    },
  },
  edit: {
    names: [
      "edit_file",
      "multi_edit",
      "str_replace",
      "search_replace",
      "search_and_replace",
      "replace",
      "replace_in_file",
    ],
    arguments: {
      ...file,
      old_string: "oldText",
      oldString: "oldText",
      old_str: "oldText",
      old_text: "oldText",
      search: "oldText",
      new_string: "newText",
      newString: "newText",
      new_str: "newText",
      new_text: "newText",
      replace: "newText",
      replacement: "newText",
      replacements: "edits",
      changes: "edits",
    },
  },
  write: {
    names: ["write_file", "write_to_file", "create_file", "save_file"],
    arguments: {
      ...file,
      contents: "content",
      file_content: "content",
      file_text: "content",
      text: "content",
    },
  },
  grep: {
    names: ["grep_search", "search_file_content", "ripgrep", "rg"],
    arguments: {
      ...folder,
      ...count,
      query: "pattern",
      regex: "pattern",
      include: "glob",
      include_pattern: "glob",
      file_pattern: "glob",
      "-i": "ignoreCase",
      ignore_case: "ignoreCase",
      case_insensitive: "ignoreCase",
      "-C": "context",
      context_lines: "context",
    },
  },
  find: {
    names: ["glob", "find_files", "file_search", "glob_file_search"],
    arguments: {
      ...folder,
      ...count,
      glob: "pattern",
      glob_pattern: "pattern",
      query: "pattern",
      name: "pattern",
    },
  },
  ls: {
    names: ["list_dir", "list_directory", "list_files"],
    arguments: { ...folder, ...count, file_path: "path" },
  },
  todo_write: {
    names: ["todo", "write_todos", "update_todos", "update_plan"],
    arguments: { plan: "todos", step: "content" },
  },
  task: {
    names: ["agent", "dispatch_agent", "spawn_agent"],
    arguments: { prompt: "task", subagent_type: "agent" },
  },
};
