// Package client is the native core: every operation of the platform, typed,
// with authentication, retries, paging and transfers. It does not depend on
// Lua.
package client

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"transect/client/declare"
	"transect/client/files"
	"transect/client/journal"
	"transect/client/transfer"
	"transect/client/transport"
	"transect/client/wait"
)

// Client is a connection to a platform, with one field per manager of
// operations. It is safe for concurrent use.
type Client struct {
	Projects    Projects    `manager:"projects" holds:"missions|datasets|annotations" root:"/project-manager" doc:"Sites a company works on."`
	Missions    Missions    `manager:"missions" holds:"datasets" root:"/project-manager" doc:"Surveys flown over a project."`
	Flights     Flights     `manager:"flights" root:"/project-manager" doc:"Flights of a mission, which take its images."`
	Datasets    Datasets    `manager:"datasets" root:"/data-manager" doc:"Images, rasters, vectors, point clouds, meshes and files."`
	Analytics   Analytics   `manager:"analytics" root:"/analytics-service" doc:"Algorithms that can be ordered."`
	Products    Products    `manager:"products" root:"/analytics-service" doc:"Ordered analytics, their state and logs."`
	Companies   Companies   `manager:"companies" root:"/dxauth" doc:"Owners of projects, datasets and analytics."`
	Users       Users       `manager:"users" root:"/dxauth" doc:"People and programs that use the platform."`
	ShareTokens ShareTokens `manager:"share_tokens" secret:"token" root:"/dxauth" doc:"Tokens that grant access to the tiles of datasets."`

	Teams                           Teams                           `manager:"teams" root:"/dct-service/asset-management" doc:"Groups of pilots."`
	Pilots                          Pilots                          `manager:"pilots" root:"/dct-service/asset-management" doc:"Users who fly, with what they can fly."`
	Carriers                        Carriers                        `manager:"carriers" root:"/dct-service/asset-management" doc:"Drones, robots and people that carry sensors."`
	CarrierModels                   CarrierModels                   `manager:"carrier_models" root:"/dct-service/asset-management" doc:"Kinds of carriers."`
	Sensors                         Sensors                         `manager:"sensors" root:"/dct-service/asset-management" doc:"Cameras and scanners that carriers carry."`
	SensorsModels                   SensorsModels                   `manager:"sensors_models" one:"sensor_model" alias:"sensor_models" root:"/dct-service/asset-management" doc:"Kinds of sensors."`
	CollectionTasks                 CollectionTasks                 `manager:"collection_tasks" one:"task" root:"/dct-service/task" doc:"Orders to collect data in the field."`
	Fields                          Fields                          `manager:"fields" root:"/season-planner/asset-management" doc:"Pieces of land that trials are on."`
	Crops                           Crops                           `manager:"crops" root:"/season-planner/asset-management" doc:"Plants that trials grow."`
	GrowthStages                    GrowthStages                    `manager:"growth_stages" root:"/season-planner/asset-management" doc:"Steps in the growth of crops."`
	Trials                          Trials                          `manager:"trials" volatile:"yes" root:"/season-planner/trial-management" doc:"Experiments with a crop on a field in a season."`
	SeasonPlannerMissions           SeasonPlannerMissions           `manager:"season_planner_missions" one:"mission" root:"/season-planner/trial-management" doc:"Data collections a trial plans."`
	EstimationMethods               EstimationMethods               `manager:"estimation_methods" root:"/season-planner/asset-management" doc:"Ways to estimate assessment parameters."`
	AssessmentParametersVariables   AssessmentParametersVariables   `manager:"assessment_parameters_variables" one:"assessment_parameter_variable" root:"/season-planner/asset-management" doc:"Quantities that estimations assess."`
	AssessmentParametersEstimations AssessmentParametersEstimations `manager:"assessment_parameters_estimations" one:"assessment_parameter_estimation" root:"/season-planner" doc:"Estimations of assessment parameters over missions."`

	Annotations                Annotations                `manager:"annotations" root:"/map-service/annotations" doc:"Drawings on maps, models and images."`
	Features                   Features                   `manager:"features" root:"/map-service/features" doc:"Geometries with properties."`
	Collections                Collections                `manager:"collections" root:"/map-service/features" doc:"Named groups of features."`
	Tags                       Tags                       `manager:"tags" root:"/project-manager" doc:"Tags on objects of a project."`
	Comments                   Comments                   `manager:"comments" root:"/project-manager" doc:"Comments on objects of a project."`
	Credentials                Credentials                `manager:"credentials" root:"/credentials-service" doc:"Secrets a company keeps on the platform."`
	OAuthClients               OAuthClients               `manager:"oauth_clients" secret:"client_secret" one:"client" root:"/dxauth" doc:"Ids and secrets with which programs log in."`
	AnalyticConfigurations     AnalyticConfigurations     `manager:"analytic_configurations" root:"/analytics-service" doc:"Sets of values for analytics."`
	Datastreams                Datastreams                `manager:"datastreams" root:"/dataflow" doc:"Recurring imports of files into the platform."`
	DatastreamsAssetsMonitored DatastreamsAssetsMonitored `manager:"datastreamsassetsmonitored" alias:"datastreams_assets_monitored" root:"/dataflow" doc:"Assets that datastreams watch."`
	DatastreamsFiles           DatastreamsFiles           `manager:"datastreamsfiles" alias:"datastreams_files" root:"/dataflow" doc:"Files that datastreams have found."`
	DatastreamTemplates        DatastreamTemplates        `manager:"datastreamtemplates" alias:"datastream_templates" root:"/dataflow" doc:"How datastreams turn files into datasets."`

	engine    *declare.Engine
	managers  []*declare.Manager
	transport *transport.Transport
	transfers *transfer.Transfers
	tree      files.Tree // of the user
	log       *slog.Logger
	revision  int
	rehearses bool
	planned   bool   // its writes go to a plan
	account   string // platform and login
	sleep     func(ctx context.Context, d time.Duration) error
	unserved  sync.Once // warns of tiles that nothing serves
}

// Revision returns the revision of the interface the client was made for: 1,
// the newest, to 3.
func (c *Client) Revision() int { return max(c.revision, 1) }

// Options are a client's options apart from the settings.
type Options struct {
	Version      string                           // of the program, for the User-Agent
	Logger       *slog.Logger                     // no logging when nil
	Trace        func(transport.TraceRecord)      // called with each exchange, redacted
	Env          func(name string) (string, bool) // the process's environment when nil
	RoundTripper http.RoundTripper                // answers in place of the network: the local platform
	// Wrap wraps the round tripper that sends requests to the network. Optional.
	Wrap func(base string, below http.RoundTripper) (http.RoundTripper, error)
	// Over returns a round tripper that answers for the platform at base; see transport.Options. Optional.
	Over        func(base string, below http.RoundTripper) (http.RoundTripper, error)
	Links       []Link              // of the chain of every call, sorted by place before use
	Rehearses   bool                // writes do not reach the platform: Over answers them
	Budget      *transfer.Budget    // connections shared by all transfers; one that tunes itself when nil
	Stats       *transfer.Stats     // statistics of transfers; the client's own when nil
	Bandwidth   *transfer.Bandwidth // limits the bytes per second of all transfers; no limit when nil
	RequestRate float64             // requests per second; 0 is no limit
	// how long requests are repeated while the network or the platform is away; wins over the settings
	MaxOutage *time.Duration
	Stall     time.Duration    // longest time without a moving byte in a transfer; a minute when 0
	Journal   *journal.Journal // of begun uploads; none are resumed later when nil

	// Sleep waits before retries and between polls; in real time when nil.
	Sleep   func(ctx context.Context, d time.Duration) error
	Reach   func(hostport string) error // called before anything is sent to a host; nil allows every host
	Sending func(n int64) error         // called before so many bytes are sent, which it may refuse
	Writing func() error                // called before each write to a connection, and may wait
	Plan    func(n int64) (sending func(n int64),
		err error) // called before a file of n bytes is uploaded; see transfer.Options
	Room func() (n int64, limited bool) // how many more bytes may be sent; no limit when nil
	Tree files.Tree                     // holds the files that are uploaded; the disk when zero
	// Folder opens the folder of a download, made when missing, for a file of
	// that name, "" while it is unknown; any folder when nil.
	Folder func(folder, name string) (*os.Root, error)
}

// New connects with resolved settings. It logs in, so that wrong credentials
// fail before any work is done.
func New(ctx context.Context, s Settings, o Options) (*Client, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	retries, outage, insecure := 0, time.Duration(0), false
	if s.Connection != nil {
		insecure = s.Connection.DisableSSLCertificate
		if n := s.Connection.MaxRetries; n != nil {
			retries = cmp.Or(*n, -1)
		}
		if seconds := s.Connection.MaxOutage; seconds != nil {
			outage = cmp.Or(time.Duration(*seconds*float64(time.Second)), -1)
		}
	}
	if o.MaxOutage != nil {
		outage = cmp.Or(*o.MaxOutage, -1)
	}
	if o.Sleep == nil {
		o.Sleep = wait.Sleep
	}
	if o.Budget == nil {
		o.Budget = transfer.NewTunedBudget(transfer.MostConnections)
	}
	products := s.Service
	if s.Revision > 1 {
		products = slices.Concat([]string{"revision/" + strconv.Itoa(s.Revision)}, products)
	}
	t, err := transport.New(transport.Options{
		BaseURL: s.URL, Proxy: s.ProxyURL, CACert: s.CACert, InsecureTLS: insecure, Timeout: s.Timeout, MaxRetries: retries,
		MaxOutage: outage,
		UserAgent: products, Version: o.Version, Logger: o.Logger, Trace: o.Trace, Env: o.Env,
		RoundTripper: o.RoundTripper, Wrap: o.Wrap, Over: o.Over, Busy: o.Budget.Overloaded,
		Reach: o.Reach, Sending: o.Sending, Writing: o.Writing, Stall: o.Stall, Rate: o.RequestRate,
		Sleep:       backoffFor(o.Sleep),
		Connections: o.Budget.Most(),
		Credentials: transport.Credentials{User: s.User, Password: s.Password, ClientID: s.ClientID,
			ClientSecret: s.ClientSecret, AccessToken: s.AccessToken, Scope: s.Scope, Mixed: s.mixed},
	})
	if err != nil {
		return nil, err
	}
	if err := t.Login(ctx); err != nil {
		return nil, err
	}
	c := &Client{transport: t, log: o.Logger, revision: s.Revision, sleep: o.Sleep, tree: o.Tree,
		rehearses: o.Rehearses, account: strings.Join([]string{t.BaseURL(), s.User, s.ClientID}, "\n")}
	if t.Local() {
		c.account += "\n" + s.Password // each local platform has its own
	}
	c.transfers = transfer.New(t, transfer.Options{Budget: o.Budget, Stats: o.Stats, Bandwidth: o.Bandwidth,
		Journal: o.Journal,
		Tree:    o.Tree, Plan: o.Plan, Room: o.Room, Folder: o.Folder, Mode: uploadMode(o.Env), Logger: o.Logger,
		Sleep: o.Sleep})
	links := []declare.Interceptor{warnDeprecated(o.Logger), spellSearch}
	for _, link := range slices.SortedStableFunc(slices.Values(o.Links), byPlace) {
		c.planned = c.planned || link.place == PlacePlan
		links = append(links, link.make(c))
	}
	c.engine = &declare.Engine{Links: links, Send: c.send, Log: o.Logger}
	c.bind()
	return c, nil
}

// Managers lists every manager with its operations, in reading order.
func (c *Client) Managers() []*declare.Manager { return c.managers }

// Manager finds a manager by its name or an alias, or returns nil.
func (c *Client) Manager(name string) *declare.Manager {
	for _, m := range c.managers {
		if m.Name == name || slices.Contains(m.Aliases, name) {
			return m
		}
	}
	return nil
}

// Managers lists the managers by name, alias and doc alone, without their
// operations: cheap enough for every start.
var Managers = sync.OnceValue(func() []*declare.Manager { return declare.Names(&Client{}) })

// Declarations lists every manager of the interface without a connection: for
// documentation, checks, and the platform that answers them.
func Declarations() []*declare.Manager { return DeclarationsOf(1) }

// DeclarationsOf lists the managers of a revision of the interface, 1 to 3.
func DeclarationsOf(revision int) []*declare.Manager {
	c := &Client{engine: &declare.Engine{}, revision: revision}
	c.bind()
	return c.managers
}

// BaseURL returns the platform's address.
func (c *Client) BaseURL() string { return c.transport.BaseURL() }

// Account identifies the platform and the login; two local platforms have different ones. It is not for display.
func (c *Client) Account() string { return c.account }

// Local reports whether the platform answers inside the process.
func (c *Client) Local() bool { return c.transport.Local() }

// PlatformTime returns the time of the platform's clock.
func (c *Client) PlatformTime() time.Time { return c.transport.PlatformTime() }

// Rehearses reports whether writes do not reach the platform.
func (c *Client) Rehearses() bool { return c.rehearses }

// TransferStats counts what the client's transfers do.
func (c *Client) TransferStats() *transfer.Stats { return c.transfers.Stats }

// RetryAfter returns how much longer requests are held back at the request of
// the platform or its storage, or 0.
func (c *Client) RetryAfter() time.Duration { return c.transport.RetryAfter() }

// bind assigns the Go methods of the operations that have one; the tags define
// the others.
func (c *Client) bind() {
	c.Missions.Create = c.createMission
	c.Missions.CompleteSurveyUpload = c.completeSurveyUpload
	c.Missions.FindOrCreate = c.findOrCreateMission
	c.Projects.FindOrCreate = c.findOrCreateProject
	c.Datasets.Wait = c.waitForDatasets
	c.Products.Wait = c.waitForProducts
	c.Products.DownloadOutputs = c.downloadOutputs
	c.Flights.Create = c.createFlight
	c.Datasets.UploadFile = c.uploadFile
	c.Datasets.DownloadComponent = c.downloadComponent
	c.Datasets.DownloadImageAsJPEG = c.downloadImage
	c.Datasets.DownloadPreview = c.downloadPreview
	c.Datasets.ShareTiles = c.shareTiles
	c.Analytics.DescribeByName = c.describeByName
	c.Analytics.Order = c.orderAnalytic
	c.Analytics.ShareWithCompany = ignored
	c.Analytics.UnshareWithCompany = ignored
	c.Products.RetrieveLogs = c.retrieveLogs
	c.Products.FollowLogs = c.followLogs
	c.ShareTokens.Create = c.createShareToken
	c.Annotations.Create = c.createAnnotation
	c.Annotations.CreateAnnotations = c.createAnnotations
	c.Annotations.AddAttachments = c.addAttachments
	c.Collections.Export = c.exportCollection
	c.Tags.SearchGenerator = c.eachTag
	c.Comments.SearchGenerator = c.eachComment
	c.managers = declare.Bind(c, c.engine, c.revise)
}

func (c *Client) operation(manager, name string) *declare.Spec {
	return c.Manager(manager).Op(name)
}

// Operation finds an operation by its full name, projects.create, or returns nil.
func (c *Client) Operation(name string) *declare.Spec {
	manager, name, _ := strings.Cut(name, ".")
	if m := c.Manager(manager); m != nil {
		return m.Op(name)
	}
	return nil
}

// ignored implements operations that no longer do anything.
func ignored(context.Context, ShareAnalytic) (None, error) { return None{}, nil }

// send ends the chain: it sends one request.
func (c *Client) send(ctx context.Context, req declare.Request) ([]byte, error) {
	body, err := req.JSON()
	if err != nil {
		return nil, err
	}
	var header http.Header
	if req.Key != "" {
		header = http.Header{"Idempotency-Key": {req.Key}}
	}
	send := func(body []byte) ([]byte, error) {
		answer, err := c.transport.Do(ctx, transport.Request{Header: header, Operation: req.Spec.FullName(),
			Repeatable: req.Repeatable(),
			Method:     req.Method, Path: req.Path, Query: req.Query, Body: body, Bound: req.Bound, Buffer: req.Buffer,
			GiveUp: req.GiveUp})
		return answer.Body, err
	}
	if req.Spec.Manager == "carrier_models" {
		return onWings(req.Spec, body, send)
	}
	return send(body)
}

// Pause waits before the next request of a poll, by the clock the client was
// given. It ends early, with the cause, when ctx does.
func (c *Client) Pause(ctx context.Context, d time.Duration) error {
	if err := c.sleep(ctx, d); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return nil
}

// warnDeprecated warns once for each operation that has a replacement.
func warnDeprecated(log *slog.Logger) declare.Interceptor {
	var warned sync.Map
	return func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
		if now := call.Spec.Deprecated; now != "" {
			if _, before := warned.LoadOrStore(call.Spec.FullName(), true); !before {
				log.Warn(call.Spec.FullName()+" is deprecated", "use", now)
			}
		}
		return next(ctx, call)
	}
}
