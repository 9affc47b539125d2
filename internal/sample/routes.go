package sample

// handler answers one request; nil as the result is 204.
type handler func(*Org, *request) (any, error)

type route struct {
	pattern string // of the resource: what stands behind _apis
	serve   handler
}

// routes are the resources of the organization.
var routes = []route{
	{"GET /connectionData", (*Org).connectionData},
	{"GET /identities", (*Org).listIdentities}, // of vssps.dev.azure.com
	{"GET /projects", (*Org).listProjects},
	{"GET /projects/{project}", (*Org).getProject},
	{"GET /projects/{project}/teams", (*Org).listTeams},

	{"GET /git/repositories", (*Org).listRepositories},
	{"POST /git/repositories", (*Org).createRepository},
	{"GET /git/repositories/{repository}", (*Org).getRepository},
	{"GET /git/repositories/{repository}/refs", (*Org).listRefs},
	{"POST /git/repositories/{repository}/refs", (*Org).updateRefs},
	{"GET /git/repositories/{repository}/commits", (*Org).listCommits},

	{"GET /git/pullRequests", (*Org).listPullRequests},
	{"GET /git/pullRequests/{pull}", (*Org).getPullRequest},
	{"GET /git/repositories/{repository}/pullRequests", (*Org).listPullRequests},
	{"POST /git/repositories/{repository}/pullRequests", (*Org).createPullRequest},
	{"GET /git/repositories/{repository}/pullRequests/{pull}", (*Org).getPullRequest},
	{"PATCH /git/repositories/{repository}/pullRequests/{pull}", (*Org).updatePullRequest},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/threads", (*Org).listThreads},
	{"POST /git/repositories/{repository}/pullRequests/{pull}/threads", (*Org).createThread},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/threads/{thread}", (*Org).getThread},
	{"PATCH /git/repositories/{repository}/pullRequests/{pull}/threads/{thread}", (*Org).updateThread},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/threads/{thread}/comments", (*Org).listComments},
	{"POST /git/repositories/{repository}/pullRequests/{pull}/threads/{thread}/comments", (*Org).createComment},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/reviewers", (*Org).listReviewers},
	{"POST /git/repositories/{repository}/pullRequests/{pull}/reviewers", (*Org).addReviewers},
	{"PUT /git/repositories/{repository}/pullRequests/{pull}/reviewers/{reviewer}", (*Org).setReviewer},
	{"DELETE /git/repositories/{repository}/pullRequests/{pull}/reviewers/{reviewer}", (*Org).removeReviewer},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/iterations", (*Org).listIterations},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/iterations/{iteration}/changes", (*Org).listChanges},
	{"GET /git/repositories/{repository}/pullRequests/{pull}/labels", (*Org).listLabels},
	{"POST /git/repositories/{repository}/pullRequests/{pull}/labels", (*Org).addLabel},
	{"DELETE /git/repositories/{repository}/pullRequests/{pull}/labels/{label}", (*Org).removeLabel},

	{"POST /wit/wiql", (*Org).queryWorkItems},
	{"GET /wit/workItems", (*Org).listWorkItems},
	{"POST /wit/workItemsBatch", (*Org).batchWorkItems},
	{"POST /wit/workItems/{type}", (*Org).createWorkItem},
	{"GET /wit/workItems/{id}", (*Org).getWorkItem},
	{"PATCH /wit/workItems/{id}", (*Org).updateWorkItem},
}
