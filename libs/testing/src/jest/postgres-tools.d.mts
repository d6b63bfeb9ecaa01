export function postgresTools(environment?: NodeJS.ProcessEnv): string | undefined;
