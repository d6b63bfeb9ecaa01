/** All pages by their address. Each is loaded when it is opened: a player loads no pages of operators. */
import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  redirect,
} from '@tanstack/react-router';
import { logSearch } from './operate/log/log-search';
import { searchOf } from './operate/redemptions/search';
import { snapshotSearch } from './partner/snapshot-question';
import { textsOf } from './shared/search-texts';
import { CrashPage, NotFoundPage } from './shell/fallback-pages';
import { Shell } from './shell/shell';
import { lazyPage } from './shell/upgrades';

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage });

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the router’s way to redirect
    throw redirect({ to: '/redeem' });
  },
});

/** Creates routes of pages below a parent. A page is the component `name` of its module. */
function pagesOf<Parent extends AnyRoute>(parent: Parent) {
  return <Path extends string, Module extends Record<string, unknown>>(
    path: Path,
    name: keyof Module & string,
    load: () => Promise<Module>,
  ) => createRoute({ getParentRoute: () => parent, path, component: lazyPage(load, name) });
}

const page = pagesOf(rootRoute);

const operate = page('/operate', 'OperateArea', () => import('./operate/operate-area'));
const operators = pagesOf(operate);
const redemptions = createRoute({
  getParentRoute: () => operate,
  path: '/redemptions',
  validateSearch: searchOf,
  component: lazyPage(() => import('./operate/redemptions/redemptions-page'), 'RedemptionsPage'),
});
const log = createRoute({
  getParentRoute: () => operate,
  path: '/log',
  validateSearch: logSearch,
  component: lazyPage(() => import('./operate/log/log-page'), 'LogPage'),
});
const partnerList = createRoute({
  getParentRoute: () => operate,
  path: '/partners',
  validateSearch: (given: Record<string, unknown>) => textsOf(given, ['name']),
  component: lazyPage(() => import('./operate/partners/partners-page'), 'PartnersPage'),
});
const operateRoutes = operate.addChildren([
  operators('/', 'OverviewPage', () => import('./operate/overview/overview-page')),
  operators('/wallets', 'WalletsPage', () => import('./operate/wallet/wallets-page')),
  operators('/wallets/$wallet', 'WalletPage', () => import('./operate/wallet/wallet-page')),
  partnerList,
  operators('/partners/$partner', 'PartnerPage', () => import('./operate/partners/partner-page')),
  redemptions,
  operators(
    '/redemptions/$redemption',
    'RedemptionPage',
    () => import('./operate/redemptions/redemption-page'),
  ),
  operators('/adoption', 'AdoptionPage', () => import('./operate/redemptions/adoption-page')),
  operators(
    '/reconciliation',
    'ReconciliationPage',
    () => import('./operate/reconciliation/reconciliation-page'),
  ),
  operators('/audits', 'AuditsPage', () => import('./operate/audits/audits-page')),
  operators('/registry', 'RegistryPage', () => import('./operate/registry/registry-page')),
  operators('/doctor', 'DoctorPage', () => import('./operate/doctor/doctor-page')),
  log,
  operators('/approvals', 'ApprovalsPage', () => import('./operate/approvals/approvals-page')),
]);

const partner = page('/partner', 'PartnerArea', () => import('./partner/partner-area'));
const partners = pagesOf(partner);
const snapshot = createRoute({
  getParentRoute: () => partner,
  path: '/snapshot',
  validateSearch: snapshotSearch,
  component: lazyPage(() => import('./partner/snapshot-page'), 'SnapshotPage'),
});
const partnerRoutes = partner.addChildren([
  partners('/', 'OverviewPage', () => import('./partner/overview-page')),
  partners('/credentials', 'CredentialsPage', () => import('./partner/credentials-page')),
  partners('/requests', 'RequestsPage', () => import('./partner/requests-page')),
  partners('/corrections', 'CorrectionsPage', () => import('./partner/corrections-page')),
  partners('/redemptions', 'RedemptionsPage', () => import('./partner/redemptions-page')),
  partners('/calls', 'CallsPage', () => import('./partner/calls-page')),
  partners('/webhooks', 'WebhooksPage', () => import('./partner/webhooks-page')),
  partners('/webhooks/$webhook', 'WebhookLogPage', () => import('./partner/webhook-log-page')),
  snapshot,
  partners('/signature', 'SignaturePage', () => import('./partner/signature-page')),
  partners('/conformance', 'ConformancePage', () => import('./partner/conformance-page')),
  partners('/usage', 'UsagePage', () => import('./partner/usage-page')),
  partners('/docs', 'DocsPage', () => import('./partner/docs/docs-page')),
  partners('/docs/$page', 'DocsPage', () => import('./partner/docs/docs-page')),
]);

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    home,
    page('/redeem', 'RedeemArea', () => import('./redeem/redeem-area')),
    operateRoutes,
    partnerRoutes,
    page('/operate/sign-in', 'OperatorSignIn', () => import('./session/sign-in-page')),
    page('/partner/sign-in', 'PartnerSignIn', () => import('./session/sign-in-page')),
    page('/operate/signed-in', 'SignedInPage', () => import('./desk/signed-in-page')),
    page('/partner/signed-in', 'SignedInPage', () => import('./desk/signed-in-page')),
    page('/partner/invitation', 'InvitationPage', () => import('./session/link-pages')),
    page('/sign-in/link', 'LinkPage', () => import('./session/link-pages')),
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: CrashPage,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
