package sample

import "slices"

// handler answers one request; nil as the result is 204.
type handler func(*Org, *request) (any, error)

type route struct {
	pattern string // of the resource: what stands behind _apis
	serve   handler
}

// routes are the resources of the organization. Each domain has a file, and its
// routes stand at the top of it. Of several that fit, the first is taken.
var routes = slices.Concat(
	coreRoutes, gitRoutes, pullRequestRoutes, threadRoutes, workItemRoutes, trackingRoutes, planningRoutes,
	pipelineRoutes, wikiRoutes, searchRoutes, testPlanRoutes, securityRoutes,
)
