/**
 * What keeps rows from their targets, from profiles; the page shows those of the rows that miss. Take
 * a line out when its row has held for a while.
 */
export const limits: Readonly<Record<string, string>> = {
  start:
    "half of it is Node itself; of the rest a third reads, links and runs the program's first file, and no other function takes more than 2 ms",
  "start-uncached":
    "half of the time is Node itself and the compilation of the program's first file, of which a start runs a third",
  "argument-stream-cpu":
    "a quarter is the two requests and the call, shared by 2 000 deltas; 15 % parses the vendor's events, as the floor does; no other function takes more than 5 %",
  "paced-cpu": "the floor is 0.6 × the best peer: waking for each delta costs more than the delta",
  "last-byte":
    "one read and one write: between them the end of a reply takes 1 ms of code that runs once for each prompt, most of it not compiled yet",
  "paced-abort": "as last-byte: one read, one write, and 1 ms of code that a host seldom runs",
  "get-state-idle":
    "of 26 µs per answer the write, which wakes the client, takes 20; the peer's 18 are for an answer two thirds as long",
  "get-state-burst":
    "the host takes 5 µs per answer, half of them for JSON; the rest is the client, which parses answers with the documented totals, twice as long as the peer's",
  "prompt-to-request":
    "of 1.9 ms of CPU per prompt 0.4 are writes, 0.3 garbage collection, 0.5 the vendor's client and Node's HTTP; no other function takes more than 1 %",
  "prompt-cpu": "as prompt-to-request",
  "read-turn-system-calls":
    "the program makes 20; the others wake V8's threads for garbage collection and compilation",
  "bash-command":
    "of the main thread's 2 ms most is the fork of the process; the shell then starts, as with the peer",
  "session-state":
    "all 54 MB are read and scanned, 150 ms of CPU after a start of 50, because the state has totals of the whole session",
  "session-first-request":
    "of 550 ms of CPU 150 parse 100 000 messages, 130 are garbage collection of what stays in memory, 60 write 28 MB of JSON and 50 send it",
  "compacted-state":
    "as session-state. An index beside the file would have to be checked against all its bytes, since other programs write them too: reading and hashing 54 MB takes 45 ms, so that the row would be 0.15 × the best peer at best, and only sessions of more than 10 MB would gain",
  "compacted-memory":
    "36 MiB more than after a start: 11 for what is known of each entry and 3 for ids, else V8's young generation and optimised code",
  "fork-messages":
    "of 500 µs 230 are JSON.stringify of 140 KB and 220 its write; the peer needs as long",
  find: "of 22 ms of CPU half are Node's threads that read folders, half look at 20 000 names; the peer runs a program that does both on all cores",
  "grep-none":
    "ripgrep takes 150 ms of CPU for 20 000 files, whatever its options, and the peer runs the same program",
  "grep-few": "as grep-none",
};
