import { load } from "./config.ts";

console.log(load().port);
