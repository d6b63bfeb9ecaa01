import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ConsoleSettings } from '../../console.env.js';
import { type DatabaseAlerts } from './database-alerts.js';
import { OpenAlerts } from './open-alerts.js';
import { type ServiceHealth } from './service-health.js';

/** An Alertmanager below `/am`, which redirects a path with two slashes as Go's servers do. */
let server: Server;
let host: string;
beforeAll(async () => {
  server = createServer(({ url = '', headers }, answer) => {
    const login = Buffer.from(headers.authorization?.slice('Basic '.length) ?? '', 'base64');
    if (url.includes('//')) answer.writeHead(301, { location: url.replaceAll('//', '/') }).end();
    else if (!url.startsWith('/am/api/v2/alerts?')) answer.writeHead(404).end();
    else if (login.toString() !== 'ann:p@ss') answer.writeHead(401).end();
    else answer.end('[{"labels":{"alertname":"IndexHalted","severity":"critical"}}]');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
});

const alertsOf = (alertmanagerUrl: string) =>
  new OpenAlerts(
    { alertmanagerUrl } as ConsoleSettings,
    {} as DatabaseAlerts,
    {} as ServiceHealth,
  ).all();

it.each(['/am', '/am/'])('are read from an Alertmanager with a login, below %s', async (path) => {
  expect(await alertsOf(`http://ann:p%40ss@${host}${path}`)).toMatchObject({
    source: 'alertmanager',
    alerts: [{ name: 'IndexHalted', severity: 'critical' }],
  });
});

it.each([
  ['/am', '401'],
  ['/other', '404'],
])('say what an Alertmanager answers below %s', async (path, status) => {
  await expect(alertsOf(`http://${host}${path}`)).rejects.toThrow(`answered ${status}`);
});
