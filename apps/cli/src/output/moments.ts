/** A moment as operators read it, to the millisecond where `exact`. */
export function moment(at: Date | number | null): string | undefined {
  return at === null ? undefined : new Date(at).toISOString();
}

/** How long, in its two largest units. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24];
  const [minutes, rest] = [Math.floor(seconds / 60) % 60, seconds % 60];
  if (days > 0) return `${days}d ${hours}h`;
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${rest}s` : `${rest}s`;
}

/** `in 5m 0s`, or `12s ago`. */
export function fromNow(atMs: number, nowMs: number): string {
  return atMs > nowMs ? `in ${duration(atMs - nowMs)}` : `${duration(nowMs - atMs)} ago`;
}
