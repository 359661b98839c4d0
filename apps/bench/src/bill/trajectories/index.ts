import { branches } from "./branches.ts";
import { interruptions } from "./interruptions.ts";
import { ordinary } from "./lengths.ts";
import type { Trajectory } from "./trajectory.ts";

export const trajectories: readonly Trajectory[] = [...ordinary, ...interruptions, ...branches];
