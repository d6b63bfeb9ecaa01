import { stopTestServer } from './test-server.mjs';

export default async function teardown() {
  await stopTestServer();
}
