import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PROGRAMS } from '#libs/db';
import { serviceDatabaseUrls } from './service-database-urls.js';

const urlOf = (program: string): string => `postgresql://${program}:hunter2@db:5432/lowmark`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lowmark-urls-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function messageOf(path = folder): string {
  try {
    serviceDatabaseUrls(path);
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}

describe('the folder of SERVICE_DATABASE_URLS', () => {
  it('has a file for each service, and may have others', () => {
    for (const program of PROGRAMS) write(`${program}_database_url`, `${urlOf(program)}\n`);
    write('database_url', 'the owner’s');
    write('rpc_urls', 'https://rpc.example');
    expect(serviceDatabaseUrls(folder)).toEqual(
      Object.fromEntries(PROGRAMS.map((program) => [program, urlOf(program)])),
    );
  });

  it('leaves out the services whose files are missing', () => {
    write('indexer_database_url', urlOf('indexer'));
    expect(serviceDatabaseUrls(folder)).toEqual({ indexer: urlOf('indexer') });
  });

  it.each([
    ['a wrong scheme', 'mysql://api:hunter2@db/lowmark', /must be a URL that starts with postgre/],
    ['nothing', '', /must be a URL that starts with postgre/],
    ['two hosts', 'postgresql://api:hunter2@a,b/lowmark', /must name one host/],
  ])('is refused with the path of a file with %s, without its content', (_, text, why) => {
    write('cli_database_url', urlOf('cli'));
    write('api_database_url', text);
    expect(messageOf()).toMatch(why);
    expect(messageOf()).toContain(join(folder, 'api_database_url'));
    expect(messageOf()).not.toContain('hunter2');
  });

  it('is refused with the path of what cannot be read', () => {
    mkdirSync(join(folder, 'api_database_url'));
    const path = join(folder, 'api_database_url');
    expect(messageOf()).toBe(`has ${path}, which cannot be read`);
  });

  it('is refused if it is no folder, or has no such file', () => {
    write('database_url', urlOf('owner'));
    expect(messageOf()).toBe(
      `must be a folder with files such as api_database_url; ${folder} has none`,
    );
    const file = join(folder, 'database_url');
    expect(messageOf(file)).toBe(`must be a folder that can be read; ${file} is not`);
  });
});
