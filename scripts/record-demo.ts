/**
 * Plays the demo with the scripted model and writes it as an animation into docs/demo.svg
 * (`npx -y pnpm@12 demo:record`).
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { makeFilm } from "./recording/film.ts";
import { filmSvg } from "./recording/film-svg.ts";
import { recordOutput, shortenPauses } from "./recording/record-output.ts";

const COMMAND = "npx -y pnpm@12 demo";
const MAX_BYTES = 1_000_000;
const MAX_PAUSE_SECONDS = 1;
const HOLD_SECONDS = 5;

const play = fileURLToPath(new URL("../docs/examples/demo/play.ts", import.meta.url));
const target = fileURLToPath(new URL("../docs/demo.svg", import.meta.url));
const chunks = await recordOutput([process.execPath, play, "--scripted", "--live"], {
  FORCE_COLOR: "1",
});
const typed = { seconds: 0, text: `$ ${COMMAND}\n` };
const film = await makeFilm(shortenPauses([typed, ...chunks], MAX_PAUSE_SECONDS), {
  columns: 100,
  rows: 28,
  framesPerSecond: 10,
});
const svg = filmSvg(film, COMMAND, HOLD_SECONDS);
if (svg.length > MAX_BYTES) throw new Error(`The animation has ${svg.length} bytes; shorten it.`);
writeFileSync(target, svg);
const seconds = Math.round(film.frames / film.framesPerSecond);
console.log(`${target}: ${seconds} s, ${Math.round(svg.length / 1000)} kB`);
