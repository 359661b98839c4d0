import { documentOf, requirements } from "../transcripts/requirements.ts";
import { judge, readTranscripts } from "../transcripts/transcript.ts";
import type { ConformanceRun, Failure, PlayedTranscript, ShapeProblem } from "./run-conformance.ts";

interface StatementResult {
  readonly id: string;
  readonly text: string;
  /** Whether the statement comes from the dialect's document or is an addition of Tau. */
  readonly from: "document" | "tau";
  /** `not_tried` if no transcript that shows it was played, or the host deviated before that point. */
  readonly status: "holds" | "fails" | "not_tried";
  readonly transcripts: readonly string[];
}

interface DialectReport {
  readonly name: string;
  readonly statements: readonly StatementResult[];
  readonly failures: readonly (Failure & {
    readonly transcript: string;
    /** Ids of the statements that fail. */
    readonly requirements: readonly string[];
  })[];
  readonly shapeProblems: readonly (ShapeProblem & { readonly transcript: string })[];
}

/** The output of `--json`. */
export interface ConformanceReport {
  readonly argv: readonly string[];
  readonly host: ConformanceRun["host"];
  /** Whether every statement that was tested holds. */
  readonly ok: boolean;
  readonly dialects: readonly DialectReport[];
}

export function reportOf(run: ConformanceRun, argv: readonly string[]): ConformanceReport {
  const dialects = run.dialects.map((name) => dialectReport(name, run.played));
  const ok = dialects.every(
    ({ failures, shapeProblems }) => failures.length === 0 && shapeProblems.length === 0,
  );
  return { argv, host: run.host, ok, dialects };
}

function dialectReport(name: string, all: readonly PlayedTranscript[]): DialectReport {
  const played = all.filter(({ transcript }) => transcript.dialect === name);
  const failures = played.flatMap(({ transcript, failure }) =>
    failure === undefined
      ? []
      : [
          {
            transcript: transcript.name,
            requirements: judge(transcript, failure.line).fails,
            ...failure,
          },
        ],
  );
  return { name, statements: statements(name, played), failures, shapeProblems: shapes(played) };
}

function statements(dialect: string, played: readonly PlayedTranscript[]): StatementResult[] {
  const known = readTranscripts().filter((transcript) => transcript.dialect === dialect);
  const ids = new Set(known.flatMap(({ requirements: shown }) => shown));
  return [...ids].map((id) => {
    const tries = played.filter(({ transcript }) => transcript.requirements.includes(id));
    const found = tries.map((one) => statusIn(one, id));
    return {
      id,
      text: requirements[id] ?? id,
      from: documentOf(id) === dialect ? "document" : "tau",
      status: (["fails", "holds"] as const).find((status) => found.includes(status)) ?? "not_tried",
      transcripts: tries.map(({ transcript }) => transcript.name),
    };
  });
}

function statusIn({ transcript, failure }: PlayedTranscript, id: string) {
  if (failure === undefined) return "holds";
  const { holds, fails } = judge(transcript, failure.line);
  if (fails.includes(id)) return "fails";
  return holds.includes(id) ? "holds" : "not_tried";
}

/** Each kind of shape problem once, with the first transcript that showed it. */
function shapes(played: readonly PlayedTranscript[]): DialectReport["shapeProblems"] {
  const found = new Map<string, DialectReport["shapeProblems"][number]>();
  for (const { transcript, shapeProblems } of played) {
    for (const { problem, frame } of shapeProblems) {
      const key = `${frame.type} ${frame.command} ${problem.replace(/: .*/s, "")}`;
      if (!found.has(key)) found.set(key, { problem, frame, transcript: transcript.name });
    }
  }
  return [...found.values()];
}

export function formatReport(report: ConformanceReport): string {
  const { name, version } = report.host;
  const title = name === undefined ? "" : ` (${[name, version].filter(Boolean).join(" ")})`;
  return [
    `Host: ${report.argv.join(" ")}${title}`,
    ...report.dialects.flatMap(formatDialect),
    "",
    report.ok ? "Everything that was tried holds." : "Not everything holds.",
    "",
  ].join("\n");
}

function formatDialect(dialect: DialectReport): string[] {
  const { failures, shapeProblems } = dialect;
  return [
    "",
    `Dialect ${dialect.name}`,
    ...countLine(dialect, "document", "its document"),
    ...countLine(dialect, "tau", "beyond its document"),
    ...failures.flatMap((failure) => formatFailure(failure)),
    ...(shapeProblems.length === 0
      ? []
      : ["", "  Frames that are not as the document prints them:"]),
    ...shapeProblems.flatMap(({ problem, frame, transcript }) => [
      `    ${[frame.type, frame.command ?? frame.method].filter(Boolean).join(" ")}: ${short(problem)}`,
      `      in ${transcript}`,
    ]),
  ];
}

function countLine({ statements }: DialectReport, from: string, title: string): string[] {
  const own = statements.filter((statement) => statement.from === from);
  if (own.length === 0) return [];
  const tried = own.filter(({ status }) => status !== "not_tried");
  const broken = tried.filter(({ status }) => status === "fails");
  const left = own.length - tried.length;
  return [
    `  ${title}: ${tried.length - broken.length} of ${tried.length} statements hold${left === 0 ? "" : `, ${left} not tried`}`,
    ...broken.map(({ id, text }) => `    fails  ${id}: ${text}`),
  ];
}

function formatFailure(failure: DialectReport["failures"][number]): string[] {
  const { transcript, line, problem, expected, got, stderr } = failure;
  return [
    "",
    `  ${transcript}${line === undefined ? "" : `, line ${line}`}`,
    `    shows     ${failure.requirements.join(", ") || "nothing yet"}`,
    `    problem   ${short(problem)}`,
    ...(expected === undefined ? [] : [`    expected  ${short(JSON.stringify(expected))}`]),
    ...(line === undefined
      ? []
      : [`    came      ${got === undefined ? "nothing" : short(JSON.stringify(got))}`]),
    ...(stderr === "" ? [] : [`    stderr    ${short(stderr.split("\n").at(-1) ?? "")}`]),
  ];
}

const short = (text: string): string => (text.length > 400 ? `${text.slice(0, 400)}…` : text);
