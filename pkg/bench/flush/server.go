package flush

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"go.mongodb.org/mongo-driver/bson"

	"prejoin/pkg/bench/synthetic"
	"prejoin/pkg/export"
)

// batchRows is the cursor's batch, as queryd asks for it.
const batchRows = 1000

// server is queryd's edge with nothing but the stream: Echo, no middleware.
type server struct {
	http   *http.Server
	addr   string
	ended  chan error
	docs   []bson.Raw
	layout *export.Layout
}

func startServer(docs []bson.Raw, layout *export.Layout) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	e := echo.New()
	s := &server{addr: listener.Addr().String(), ended: make(chan error, 1), docs: docs, layout: layout}
	e.GET("/:rows", s.export)
	s.http = &http.Server{Handler: e, ReadHeaderTimeout: 5 * time.Second}
	go func() { s.ended <- s.http.Serve(listener) }()
	return s, nil
}

func (s *server) url(cadence int) string { return "http://" + s.addr + "/" + strconv.Itoa(cadence) }

func (s *server) export(c echo.Context) error {
	cadence, err := strconv.Atoi(c.Param("rows"))
	if err != nil {
		return echo.NewHTTPError(http.StatusBadRequest, "rows must be a number")
	}
	enc := export.NewNDJSON(s.layout, false)
	c.Response().Header().Set("Content-Type", enc.ContentType())
	w := response{c.Response(), http.NewResponseController(c.Response().Writer)}
	if _, err := export.Stream(c.Request().Context(), synthetic.NewRows(s.docs, batchRows), enc, w, options(cadence)); err != nil {
		panic(http.ErrAbortHandler) // a clean end would look complete
	}
	return nil
}

func (s *server) close() error {
	http.DefaultClient.CloseIdleConnections()
	if err := s.http.Close(); err != nil {
		return fmt.Errorf("closing the server: %w", err)
	}
	if err := <-s.ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// response tells of a failed flush, which Echo's own Flush does not.
type response struct {
	*echo.Response
	control *http.ResponseController
}

func (r response) Flush() error { return r.control.Flush() }
