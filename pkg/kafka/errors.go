package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

var (
	// ErrOwnershipLost is returned by Fetch and Commit when the generation has ended: another member may own the partition. It is no failure.
	ErrOwnershipLost = errors.New("ownership of the partition lost")
	// ErrOffsetOutOfRange is what an OffsetOutOfRangeError is.
	ErrOffsetOutOfRange = errors.New("offset out of range")
	// ErrMessageTooLarge is returned by Send for a message that no retry can send.
	ErrMessageTooLarge = errors.New("message too large")
	// ErrClosed is returned by Next after Close.
	ErrClosed = errors.New("consumer group closed")
)

// OffsetOutOfRangeError says that messages from Wanted on are gone or never were. It is returned by Fetch.
type OffsetOutOfRangeError struct {
	TopicPartition
	Wanted     int64
	First, End int64 // the broker has First ≤ offset < End
}

func (e *OffsetOutOfRangeError) Error() string {
	return fmt.Sprintf("offset out of range: partition %d of topic %s holds offsets %d to %d, wanted %d: messages were removed by retention "+
		"or the topic was created anew; run a backfill, which re-reads every document, and then start from the offsets that it shows",
		e.Partition, e.Topic, e.First, e.End, e.Wanted)
}

// Is makes errors.Is(err, ErrOffsetOutOfRange) true.
func (e *OffsetOutOfRangeError) Is(target error) bool { return target == ErrOffsetOutOfRange }

// Temporary tells whether the same call may succeed later: the broker is away, elects a leader, or is slow.
func Temporary(err error) bool {
	if err == nil || isLasting(err) {
		return false
	}
	var code kafkago.Error
	if errors.As(err, &code) {
		return code.Temporary() || code.Timeout() || code == kafkago.BrokerNotAvailable || ownershipCode(code)
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition) || errors.Is(err, protocol.ErrNoLeader)
}

func isLasting(err error) bool {
	return errors.Is(err, ErrOwnershipLost) || errors.Is(err, ErrOffsetOutOfRange) || errors.Is(err, ErrMessageTooLarge) ||
		errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled)
}

// ownershipCode tells the broker's ways of saying that a member's generation is over.
func ownershipCode(code kafkago.Error) bool {
	switch code {
	case kafkago.IllegalGeneration, kafkago.UnknownMemberId, kafkago.RebalanceInProgress, kafkago.FencedInstanceID:
		return true
	}
	return false
}

// lost turns the errors that mean the end of a generation into ErrOwnershipLost: codes 22, 25, 27 and, as kafka-go closes the
// coordinator's connection with the generation, "use of closed network connection".
func lost(err error) error {
	var code kafkago.Error
	if errors.Is(err, net.ErrClosed) || errors.As(err, &code) && ownershipCode(code) {
		return fmt.Errorf("%w: %w", ErrOwnershipLost, err)
	}
	return err
}
