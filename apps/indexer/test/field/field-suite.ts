/** A database for the worlds of a test file, and one world for each test. */
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { type Database } from '#libs/db';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { FieldWorld, type WorldOptions } from './field-world.js';

export class FieldSuite {
  private database!: TestDatabase;
  private open!: Database;
  private world: FieldWorld | undefined;

  constructor() {
    beforeAll(async () => {
      this.database = await createTestDatabase();
      this.open = await this.database.open();
    });
    afterEach(async () => {
      await this.world?.stop();
      this.world = undefined;
      await this.database.empty();
    });
    afterAll(() => this.database.drop());
  }

  aWorld(options?: WorldOptions): FieldWorld {
    this.world = new FieldWorld(this.database, options);
    return this.world;
  }

  expectRight(world: FieldWorld): Promise<void> {
    return world.expectRight(this.open);
  }

  /** Follows the chain block by block; one of three blocks has no events. */
  async follow(world: FieldWorld): Promise<void> {
    for (let round = 0; round < 3; round++) {
      world.mine(1);
      await this.expectRight(world);
    }
  }
}
