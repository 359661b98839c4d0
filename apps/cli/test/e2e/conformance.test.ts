import { playTranscript, readTranscripts, spawnHost } from "@tau-agent/conformance";
import { expect, it } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { runsWhole, slice } from "../../../../scripts/testing/slice.ts";
import { needsProcess } from "../support/hosts.ts";
import { SchemaCheck } from "../support/schema-check.ts";
import { binPath } from "../support/start-host.ts";

const argv = [process.execPath, binPath];
// The other transcripts are played in memory; conformance-command.test.ts plays all of them.
const withProcess = readTranscripts().filter(needsProcess);

// In a whole run, conformance-command.test.ts plays them just as strictly.
const elsewhere = runsWhole ? "conformance-command.test.ts plays all of them" : undefined;

describeWith(elsewhere)(
  "transcripts with subagents and many sessions against the built host, each frame held against the schema",
  () => {
    it.each(slice(withProcess, 4))("$name", async (transcript) => {
      await using host = await spawnHost(transcript, {
        argv,
        api: "anthropic-messages",
        timeoutMs: 20_000,
        violationIn: (place) => {
          const check = new SchemaCheck(place);
          return (frame) => check.violation(frame);
        },
      });
      await playTranscript(transcript, host);
      expect(host.process.noise).toEqual([]);
    });
  },
);
