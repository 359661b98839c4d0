// Appends the path of each module that a process loads to $LOADS_FILE.
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) {
      appendFileSync(process.env.LOADS_FILE, `${fileURLToPath(url)}\n`);
    }
    return next(url, context);
  },
});
