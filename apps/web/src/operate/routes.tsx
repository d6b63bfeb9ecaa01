/** The pages of operators; each is loaded when it is opened. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { operateRoute } from './operate-route';
import { partnerRoutes } from './partners/routes';
import { redemptionRoutes } from './redemptions/routes';

const overview = createRoute({
  getParentRoute: () => operateRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./overview/overview-page'), 'OverviewPage'),
});
const wallets = createRoute({
  getParentRoute: () => operateRoute,
  path: '/wallets',
  component: lazyRouteComponent(() => import('./wallet/wallets-page'), 'WalletsPage'),
});
const wallet = createRoute({
  getParentRoute: () => operateRoute,
  path: '/wallets/$wallet',
  component: lazyRouteComponent(() => import('./wallet/wallet-page'), 'WalletPage'),
});
const adoption = createRoute({
  getParentRoute: () => operateRoute,
  path: '/adoption',
  component: lazyRouteComponent(() => import('./redemptions/adoption-page'), 'AdoptionPage'),
});
const reconciliation = createRoute({
  getParentRoute: () => operateRoute,
  path: '/reconciliation',
  component: lazyRouteComponent(
    () => import('./reconciliation/reconciliation-page'),
    'ReconciliationPage',
  ),
});
const audits = createRoute({
  getParentRoute: () => operateRoute,
  path: '/audits',
  component: lazyRouteComponent(() => import('./audits/audits-page'), 'AuditsPage'),
});
const doctor = createRoute({
  getParentRoute: () => operateRoute,
  path: '/doctor',
  component: lazyRouteComponent(() => import('./doctor/doctor-page'), 'DoctorPage'),
});
const log = createRoute({
  getParentRoute: () => operateRoute,
  path: '/log',
  component: lazyRouteComponent(() => import('./log/log-page'), 'LogPage'),
});
const approvals = createRoute({
  getParentRoute: () => operateRoute,
  path: '/approvals',
  component: lazyRouteComponent(() => import('./approvals/approvals-page'), 'ApprovalsPage'),
});

export const operateRoutes = operateRoute.addChildren([
  overview,
  wallets,
  wallet,
  ...partnerRoutes,
  ...redemptionRoutes,
  adoption,
  reconciliation,
  audits,
  doctor,
  log,
  approvals,
]);
