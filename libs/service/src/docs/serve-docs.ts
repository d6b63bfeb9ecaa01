import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { canonicalJson } from '#libs/domain';
import { docsPage, type OpenApi } from './docs.module.js';

const HTML = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
};

/**
 * The contract, for people and for tools: `GET /docs` and `GET /docs/openapi.json`.
 * @param note one more sentence on the page: how a caller shows who it is
 */
export function serveDocs(app: NestFastifyApplication, openApi: OpenApi, note: string): void {
  const [html, json] = [docsPage(openApi, note), canonicalJson(openApi)];
  const fastify = app.getHttpAdapter().getInstance();
  fastify.get('/docs', (_, reply) => reply.headers(HTML).send(html));
  fastify.get('/docs/openapi.json', (_, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(json),
  );
}
