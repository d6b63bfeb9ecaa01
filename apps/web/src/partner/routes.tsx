/** The pages of partners; each is loaded when it is opened. */
import { createRoute, type lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../shell/root-route';
import { lazyPage } from '../shell/upgrades';

const partnerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/partner',
  component: lazyPage(() => import('./partner-area'), 'PartnerArea'),
});

const page = <Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => partnerRoute, path, component });

export const partnerRoutes = partnerRoute.addChildren([
  page(
    '/',
    lazyPage(() => import('./overview-page'), 'OverviewPage'),
  ),
  page(
    '/credentials',
    lazyPage(() => import('./credentials-page'), 'CredentialsPage'),
  ),
  page(
    '/requests',
    lazyPage(() => import('./requests-page'), 'RequestsPage'),
  ),
  page(
    '/redemptions',
    lazyPage(() => import('./redemptions-page'), 'RedemptionsPage'),
  ),
  page(
    '/calls',
    lazyPage(() => import('./calls-page'), 'CallsPage'),
  ),
  page(
    '/webhooks',
    lazyPage(() => import('./webhooks-page'), 'WebhooksPage'),
  ),
  page(
    '/webhooks/$webhook',
    lazyPage(() => import('./webhook-log-page'), 'WebhookLogPage'),
  ),
  page(
    '/snapshot',
    lazyPage(() => import('./snapshot-page'), 'SnapshotPage'),
  ),
  page(
    '/signature',
    lazyPage(() => import('./signature-page'), 'SignaturePage'),
  ),
  page(
    '/conformance',
    lazyPage(() => import('./conformance-page'), 'ConformancePage'),
  ),
  page(
    '/usage',
    lazyPage(() => import('./usage-page'), 'UsagePage'),
  ),
  page(
    '/docs',
    lazyPage(() => import('./docs/docs-page'), 'DocsPage'),
  ),
  page(
    '/docs/$page',
    lazyPage(() => import('./docs/docs-page'), 'DocsPage'),
  ),
]);
