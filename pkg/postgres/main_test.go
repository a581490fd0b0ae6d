package postgres_test

import (
	"testing"

	"prejoin/pkg/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }
