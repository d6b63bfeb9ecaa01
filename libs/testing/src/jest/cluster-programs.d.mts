export function clusterProgram(name: string, environment?: NodeJS.ProcessEnv): string | undefined;
