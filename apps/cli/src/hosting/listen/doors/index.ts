export { type DoorBody, readDoorBody } from "./door-body.ts";
export { doorFormats, formatNames } from "./door-formats.ts";
export { Doors } from "./serve-doors.ts";
