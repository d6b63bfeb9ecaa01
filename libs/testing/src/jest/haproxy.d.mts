export function haproxy(environment?: NodeJS.ProcessEnv): string | undefined;
