export function chromium(environment?: NodeJS.ProcessEnv): string | undefined;
