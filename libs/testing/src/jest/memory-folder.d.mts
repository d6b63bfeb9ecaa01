export function makeMemoryFolder(memory?: string): string | undefined;
