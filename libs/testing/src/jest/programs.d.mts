export function programPath(name: string, environment?: NodeJS.ProcessEnv): string | undefined;
export function postgresTools(environment?: NodeJS.ProcessEnv): string | undefined;
