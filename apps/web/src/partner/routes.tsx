/** The pages of partners; each is loaded when it is opened. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../shell/root-route';

const partnerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/partner',
  component: lazyRouteComponent(() => import('./partner-area'), 'PartnerArea'),
});

const page = <Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => partnerRoute, path, component });

export const partnerRoutes = partnerRoute.addChildren([
  page(
    '/',
    lazyRouteComponent(() => import('./overview-page'), 'OverviewPage'),
  ),
  page(
    '/credentials',
    lazyRouteComponent(() => import('./credentials-page'), 'CredentialsPage'),
  ),
  page(
    '/requests',
    lazyRouteComponent(() => import('./requests-page'), 'RequestsPage'),
  ),
  page(
    '/redemptions',
    lazyRouteComponent(() => import('./redemptions-page'), 'RedemptionsPage'),
  ),
  page(
    '/calls',
    lazyRouteComponent(() => import('./calls-page'), 'CallsPage'),
  ),
  page(
    '/snapshot',
    lazyRouteComponent(() => import('./snapshot-page'), 'SnapshotPage'),
  ),
  page(
    '/signature',
    lazyRouteComponent(() => import('./signature-page'), 'SignaturePage'),
  ),
  page(
    '/conformance',
    lazyRouteComponent(() => import('./conformance-page'), 'ConformancePage'),
  ),
  page(
    '/usage',
    lazyRouteComponent(() => import('./usage-page'), 'UsagePage'),
  ),
  page(
    '/docs',
    lazyRouteComponent(() => import('./docs/docs-page'), 'DocsPage'),
  ),
  page(
    '/docs/$page',
    lazyRouteComponent(() => import('./docs/docs-page'), 'DocsPage'),
  ),
]);
