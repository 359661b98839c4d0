import type { PermissionMode } from "@tau-agent/rpc-protocol";
import { permissionModes } from "@tau-agent/rpc-protocol/plain";

export function stricterMode(one: PermissionMode, other: PermissionMode): PermissionMode {
  return permissionModes.indexOf(one) > permissionModes.indexOf(other) ? one : other;
}
