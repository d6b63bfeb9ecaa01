import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../shell/root-route';

/** What all pages of operators lie in. */
export const operateRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operate',
  component: lazyRouteComponent(() => import('./operate-area'), 'OperateArea'),
});
