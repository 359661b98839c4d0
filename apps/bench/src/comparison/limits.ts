/**
 * What keeps rows from their targets, from profiles; the page shows those of the rows that miss. Take
 * a line out when its row has held for a while.
 */
export const limits: Readonly<Record<string, string>> = {
  "start-uncached":
    "half of the time is Node itself and the compilation of the program's first file, of which a start runs a third",
  "argument-stream-cpu":
    "a quarter is the two requests and the call, shared by 2 000 deltas; 15 % parses the vendor's events, as the floor does; no other function takes more than 5 %",
  "paced-cpu": "the floor is 0.6 × the best peer: waking for each delta costs more than the delta",
  "get-state-idle":
    "the floor is 0.9 × the best peer: the two pipes and the client take nearly all of it",
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
    "all 54 MB are read and scanned, 170 ms of CPU after a start of 50, because the state has totals of the whole session",
  "session-first-request":
    "100 000 messages are parsed, converted and sent in one request of 45 MB",
  "compacted-state":
    "as session-state: a shorter way needs an index that is kept beside the session's file",
  "compacted-memory":
    "36 MiB more than after a start: 11 for what is known of each entry and 3 for ids, else V8's young generation and optimised code",
  "fork-messages": "two thirds of the host's time are JSON.stringify of 130 KB and its write",
};
