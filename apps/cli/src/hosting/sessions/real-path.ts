import { resolve } from "node:path";
import { realPlaceOf } from "@tau-agent/system";

export const realPath = (path: string): string => realPlaceOf(resolve(path));
