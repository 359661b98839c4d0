/**
 * What keeps rows from meeting their targets, according to profiles. docs/performance-targets.md shows the
 * entries of rows that miss; remove an entry once its row has met its target for a while.
 */
export const limits: Readonly<Record<string, string>> = {
  start:
    "half of it is Node itself; of the rest a sixth is V8 taking the code that earlier processes have compiled, and no other function takes more than 2 ms",
  "start-uncached":
    "half of the time is Node itself and the compilation of the program's first file, of which a start runs a third",
  "first-prompt-memory":
    "two thirds are pages of Node's program, 46 to 49 MiB in every contestant; the floor, which sends one request and reads the reply, is 0.52 × the best peer, and Tau's heap and code are 4 MiB above the floor's (the peer's: 44)",
  "eight-hosts-wall":
    "the floor, eight programs that only read the reply, needs 0.58 to 0.68 × the best peer, as much as Tau: two cores read and write 8 000 deltas of eight processes",
  "eight-hosts-cpu": "as eight-hosts-wall; the floor is 0.55 to 0.65 × the best peer",
  "argument-stream-cpu":
    "no function takes more than parsing the vendor's events, 14 %, which the floor does too; garbage collection 6 %, writes 5 %, reading the growing arguments 4 %; the two requests and the call itself are shared by 2 000 deltas only",
  "paced-cpu": "the floor is 0.61 × the best peer: waking for each delta costs more than the delta",
  "first-delta":
    "one read, one write, and two processes that wake: from run to run the floor is 0.53 to 0.81 × the best peer, and Tau 0.51 to 0.78",
  "last-byte":
    "one read and one write; between them the end of a reply takes 1 ms of code that runs once for each prompt, and that V8 interprets",
  "paced-abort":
    "one read, one write, and 1 ms of code that a host seldom runs: 15 % of it close the connection, 12 % are garbage collection, 7 % make the two errors, and no other function takes more than 4 %",
  "call-abort":
    "what a command has started outside of its group is looked for in /proc before anything is killed, which takes 1 ms; the peer kills the group only",
  "short-first-request":
    "a host that was just started loads the code of a prompt here, and reads the messages; the peers have done both when they start and switch, and take as long for the two together, after a start of five times the time",
  "get-state-idle":
    "of 20 µs of CPU per answer 13 are what the floor needs to answer with an empty object, and the peer needs 14 for an answer two thirds as long; the answer's JSON takes 3 µs",
  "get-state-burst":
    "the host takes 4.5 µs per answer, a third of them for JSON; the rest is the client, which parses answers with the documented totals, one and a half times as long as the peer's",
  "prompt-to-request":
    "a fifth of the CPU is V8's other threads, for compilation and garbage collection; of the main thread's a seventh is the vendor's client and Node's HTTP, an eighth are writes, 2 % each the JSON of events and of tools, and no other function of Tau's takes more than 1 %",
  "prompt-cpu": "as prompt-to-request",
  "read-turn-system-calls":
    "15 belong to reading the file, writing two session entries, and the connections to model and client; 5 look whether keys, models.json and the protected files have changed; the others wake V8's threads for garbage collection and compilation",
  "bash-turn": "as bash-command, and a turn of the model around it",
  "bash-command":
    "a Node program that does nothing else takes 2.5 ms for the same command, half of them in the fork, however large its heap is; the shell then starts",
  "session-state":
    "all 54 MB are read and scanned, 150 ms of CPU after a start of 50, because the state has totals of the whole session",
  "session-get-messages":
    "the host reads 43 MB, checks that they are UTF-8 and writes them, without making a text of them; the client's reading takes a third of the time",
  "session-first-request":
    "a fifth each are garbage collection of 100 000 messages that stay in memory, and parsing them; writing and sending 28 MB of JSON takes another fifth, and the server has to receive it",
  "compacted-get-messages":
    "the first such answer of a host: half a millisecond of code that V8 interprets, for 22 messages; the peer has the messages in memory",
  "compacted-state":
    "the start of the host, and 0.5 MB from the end of the file; the rest is not read before it is needed",
  "session-fork-messages":
    "43 MB are read from the file again, because the messages do not stay in memory, and half of the time is the client's",
  "entries-since":
    "its one entry takes no longer than an answer to get_state: one read, one write, and two processes that wake",
  "grep-none":
    "ripgrep takes 160 ms of CPU for 20 000 files, 120 of them in the kernel, with eight system calls per file (open, fcntl, four reads, close); one thread takes 140 ms but no longer runs on both cores, memory maps take 258 ms, and not reading ignore files saves 6 %; the peer runs the same program",
  "grep-few": "as grep-none",
};
