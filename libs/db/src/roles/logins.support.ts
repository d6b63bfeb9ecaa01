/** A database, and users of the server for its programs. Counts as a test file without being one. */
import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Database, prepareLogins, type Program, PROGRAMS } from '../index.js';

export class Logins {
  /** Part of the names of users, which belong to the whole server. */
  readonly suffix = randomBytes(4).toString('hex');
  /** Users to remove, in the order in which they were made. */
  readonly made: string[] = [];

  private constructor(
    readonly test: TestDatabase,
    readonly owner: Database,
  ) {}

  static async start(from: 'migrated' | 'empty' = 'migrated'): Promise<Logins> {
    const test = await createTestDatabase(from);
    return new Logins(test, await test.open());
  }

  /** Removes the users, with what they own and were granted. */
  async removeUsers(): Promise<void> {
    for (const user of this.made.splice(0).reverse()) {
      await this.owner.query({ text: `DROP OWNED BY ${user} CASCADE` });
      await this.owner.query({ text: `DROP ROLE ${user}` });
    }
  }

  async stop(): Promise<void> {
    await this.removeUsers();
    await this.test.drop();
  }

  urlAs(user: string, password = `p ${user}/@`): string {
    const url = new URL(this.test.url);
    [url.username, url.password] = [user, encodeURIComponent(password)];
    return url.href;
  }

  /** The URLs of the programs, each with its own user. */
  urls(password?: string): Record<Program, string> {
    const urls = PROGRAMS.map((program) => [program, this.urlAs(this.userOf(program), password)]);
    return Object.fromEntries(urls) as Record<Program, string>;
  }

  userOf(program: Program): string {
    return `${program}_${this.suffix}`;
  }

  /** Prepares these programs' users. @returns their names */
  prepare(...programs: readonly Program[]): Promise<string[]> {
    const users = programs.map((program) => this.userOf(program));
    this.made.push(...users.filter((user) => !this.made.includes(user)));
    const urls = this.urls();
    return prepareLogins(
      this.test.url,
      Object.fromEntries(programs.map((program) => [program, urls[program]])),
    );
  }
}
