import type { Scenario } from "../scenario.ts";
import { callsOfOneReply, stoppedCall } from "./calls.ts";
import { commandsUnderStream, idleCommands } from "./commands.ts";
import { distance } from "./distance.ts";
import { edits, searches } from "./files.ts";
import { largeOutput, pausedReader } from "./output.ts";
import { fixedPart } from "./requests.ts";
import { compactedSession, longSession, sessionLists, shortSession } from "./sessions.ts";
import { eightHosts, firstPrompt, start, startUncached } from "./start.ts";
import { argumentStream, pacedStream, textStream, unmergedDeltas } from "./streams.ts";
import { bashCalls, readTurnCalls, readTurns, shortPrompts } from "./turns.ts";

/** All rows of the comparison, in the order of the page. */
export const scenarios: readonly Scenario[] = [
  start,
  startUncached,
  firstPrompt,
  eightHosts,
  textStream,
  argumentStream,
  pacedStream,
  unmergedDeltas,
  idleCommands,
  commandsUnderStream,
  shortPrompts,
  readTurns,
  readTurnCalls,
  bashCalls,
  callsOfOneReply,
  stoppedCall,
  longSession,
  compactedSession,
  shortSession,
  sessionLists,
  pausedReader,
  largeOutput,
  searches,
  edits,
  distance,
  fixedPart,
];
