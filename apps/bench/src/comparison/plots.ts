/** A picture of the page: its rows, each with a label that is clear on its own. */
export interface PlotSpec {
  /** The end of the file's name. */
  readonly name: string;
  readonly title: string;
  readonly rows: Readonly<Record<string, string>>;
}

/** All pictures. Each row with peers is in one of them; a test checks that none is missing. */
export const plots: readonly PlotSpec[] = [
  {
    name: "start",
    title: "Start",
    rows: {
      start: "From spawn to the first answer",
      "start-uncached": "The same in a fresh container",
      "first-prompt": "From spawn to the end of a first prompt",
      "eight-hosts-start": "Eight hosts at once, until all have answered",
    },
  },
  {
    name: "memory",
    title: "Memory",
    rows: {
      "start-memory": "After the start",
      "first-prompt-memory": "After one prompt",
      "eight-hosts-memory": "Eight hosts after a prompt each",
      "session-memory": "With a session of 100 000 entries",
      "compacted-memory": "With 100 000 entries, compacted near the end",
      "paused-memory": "Full-speed stream for 5 s, client does not read",
      "large-output-memory": "Peak during a command that prints 200 MiB",
    },
  },
  {
    name: "streams",
    title: "Replies that stream",
    rows: {
      "text-stream-cpu": "CPU per delta of text",
      "argument-stream-cpu": "CPU per delta of a call's arguments",
      "paced-cpu": "CPU per delta at one delta a millisecond",
      "first-delta": "First delta: from the vendor to the client",
      "delta-delay": "Each delta, without merging",
      "last-byte": "From the last byte to the end at the client",
      "eight-hosts-wall": "Eight hosts, 1 000 deltas each: time",
      "eight-hosts-cpu": "Eight hosts, 1 000 deltas each: CPU",
    },
  },
  {
    name: "commands",
    title: "Answers to commands",
    rows: {
      "get-state-idle": "get_state while nothing runs",
      "get-state-burst": "get_state, one of 2 000 in one write",
      "get-state-under-stream": "get_state during a full-speed stream",
      "abort-under-stream": "abort during a full-speed stream",
      "paced-abort": "abort at one delta a millisecond",
      "call-abort": "abort during a command of bash",
      "fork-messages": "get_fork_messages with 1 000 entries",
      "entries-since": "get_entries of the last entry of 1 000",
    },
  },
  {
    name: "turns",
    title: "Prompts and turns",
    rows: {
      "prompt-to-request": "From a prompt to the request to the model",
      "prompt-cpu": "CPU of a short prompt",
      "read-turn-early": "A turn that reads a file, the 10th",
      "read-turn-late": "A turn that reads a file, the 200th",
      "read-turn-growth": "The 200th, as a multiple of the 10th",
      "read-turn-cpu": "CPU of such a turn",
      "read-turn-system-calls": "System calls of such a turn",
      "parallel-calls": "Eight calls of 0.3 s that may run together",
      "request-bytes-per-tool": "Prompt and tools in each request, per tool",
      "declaration-bytes": "Declarations of the tools, per tool",
    },
  },
  {
    name: "tools",
    title: "Tools",
    rows: {
      "bash-turn": "A turn with bash",
      "bash-command": "The command bash of a client",
      "edit-line": "A turn that edits a line",
      "edit-large": "A turn that edits a line of 1 MB",
      find: "A turn with find in 20 000 files",
      "grep-none": "A turn with grep in 20 000 files, no match",
      "grep-few": "A turn with grep in 20 000 files, 20 matches",
      "grep-many": "A turn with grep in 20 000 files, 50 of 200 matches",
      "grep-everywhere": "A turn with grep in 20 000 files, all match",
      "large-output": "A command that prints 200 MiB",
      "far-read": "A turn with read, 100 ms from the workspace and back",
      "far-write": "A turn with write there",
      "far-edit": "A turn with edit there",
      "far-ls": "A turn with ls there",
      "far-bash": "A turn with bash there",
      "far-grep": "A turn with grep there",
      "far-find": "A turn with find there",
      "far-eight-reads": "Eight read in one reply there",
      "far-get-state": "get_state of such a session",
      "far-prompt": "From a prompt of such a session to the request",
    },
  },
  {
    name: "sessions",
    title: "Long sessions",
    rows: {
      "session-state": "100 000 entries: from spawn to the first answer",
      "session-get-messages": "100 000 entries: get_messages",
      "session-fork-messages": "100 000 entries: get_fork_messages",
      "session-first-request": "100 000 entries: from a prompt to the request",
      "session-append": "100 000 entries: set_session_name",
      "session-fork": "100 000 entries: fork",
      "session-switch": "100 000 entries: switch_session to it",
      "compacted-state": "100 000 entries, compacted: from spawn to the first answer",
      "compacted-get-state": "100 000 entries, compacted: get_state again",
      "compacted-get-messages": "100 000 entries, compacted: get_messages",
      "compacted-first-request": "100 000 entries, compacted: from a prompt to the request",
      "compacted-fork": "100 000 entries, compacted: fork",
      "short-switch": "1 000 entries: switch_session to it",
      "short-first-request": "1 000 entries: from a prompt to the request",
      "short-fork": "1 000 entries: fork",
    },
  },
];
