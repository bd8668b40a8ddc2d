//! The public names of waits for places, of permits, and of the sink: each channel has its own set.

/// Writes them for a sender, its channel and its error.
macro_rules! named_places {
    ($sender:ty, $chan:ty, $error:ty) => {
        $crate::places::names::named_places! {
            @wait
            /// A wait for room for one value.
            ///
            /// # Cancel safety
            ///
            /// Dropping it gives up the place in the line; room already granted goes to the next.
            Reserve<'a> of &'a $chan => Permit<'a, T>, $error
        }

        $crate::places::names::named_places! {
            @wait
            /// A wait for room for several values at once.
            ///
            /// # Cancel safety
            ///
            /// Dropping it gives up the place in the line; room that was granted, or gathered so
            /// far, goes to the next.
            ReserveMany<'a> of &'a $chan => PermitIterator<'a, T>, $error
        }

        $crate::places::names::named_places! {
            @wait
            /// A wait for room for one value that has its sender.
            ///
            /// # Cancel safety
            ///
            /// Dropping it gives up the place in the line and drops the sender; room already
            /// granted goes to the next.
            ReserveOwned<> of $sender => OwnedPermit<T>, $error
        }

        $crate::places::names::named_places! {
            @permit
            /// Room for one value. Dropping it unused gives the room to the next sender.
            Permit<'a> of &'a $chan
        }

        $crate::places::names::named_places! {
            @permit
            /// Room for several values, handed out one by one. Dropping it gives back the rest.
            PermitIterator<'a> of &'a $chan
        }

        impl<'a, T> Iterator for PermitIterator<'a, T> {
            type Item = Permit<'a, T>;

            fn next(&mut self) -> Option<Permit<'a, T>> {
                self.0.split_one().map(Permit)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.0.count(), Some(self.0.count()))
            }
        }

        impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
        impl<T> std::iter::FusedIterator for PermitIterator<'_, T> {}

        $crate::places::names::named_places! {
            @permit
            /// Room for one value, with the sender. Dropping it unused gives the room to the next
            /// sender.
            OwnedPermit<> of $sender
        }

        impl<T> OwnedPermit<T> {
            /// Gives the room back unused, and the sender to the caller.
            pub fn release(self) -> $sender {
                self.0.release()
            }

            /// Whether both belong to the same channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                self.0.to().same_channel(other.0.to())
            }

            /// Whether this belongs to the same channel as a sender.
            pub fn same_channel_as_sender(&self, sender: &$sender) -> bool {
                self.0.to().same_channel(sender)
            }
        }

        /// A sender as a [`Sink`](futures_sink::Sink). It reserves room, and must be pinned to be
        /// polled.
        ///
        /// Nothing is buffered: a value given to it was sent. Closing it, or dropping it, drops the
        /// sender and gives a reservation up. Allocates nothing.
        pub struct SenderSink<T>(crate::places::feed::Feed<$sender>);

        impl<T> SenderSink<T> {
            /// The sink of a sender.
            pub fn new(sender: $sender) -> Self {
                SenderSink(crate::places::feed::Feed::new(sender))
            }

            /// The sender, unless the sink was closed.
            pub fn sender(&self) -> Option<&$sender> {
                self.0.sender()
            }

            fn feed(
                self: std::pin::Pin<&mut Self>,
            ) -> std::pin::Pin<&mut crate::places::feed::Feed<$sender>> {
                // SAFETY: the only field is pinned with the whole, and not moved out of it.
                unsafe { self.map_unchecked_mut(|sink| &mut sink.0) }
            }
        }

        impl<T> futures_sink::Sink<T> for SenderSink<T> {
            type Error = $error;

            fn poll_ready(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), $error>> {
                self.feed().poll_ready(cx)
            }

            /// An error if there was no reservation, or the value cannot be received any more: it
            /// is dropped then.
            fn start_send(self: std::pin::Pin<&mut Self>, value: T) -> Result<(), $error> {
                self.feed().start_send(value)
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), $error>> {
                std::task::Poll::Ready(Ok(()))
            }

            fn poll_close(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), $error>> {
                self.feed().close();
                std::task::Poll::Ready(Ok(()))
            }
        }

        impl<T> std::fmt::Debug for SenderSink<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct("SenderSink").field("sender", &self.sender()).finish_non_exhaustive()
            }
        }
    };

    (
        @wait $(#[$meta:meta])*
        $name:ident<$($life:lifetime)?> of $reach:ty => $permit:ident<$($args:tt),*>, $error:ty
    ) => {
        $(#[$meta])*
        #[must_use = "futures do nothing unless awaited"]
        pub struct $name<$($life,)? T>(pub(super) crate::places::Reserving<$reach>);

        impl<$($life,)? T> std::future::Future for $name<$($life,)? T> {
            type Output = Result<$permit<$($args),*>, $error>;

            fn poll(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Self::Output> {
                // SAFETY: the only field is pinned with the whole, and not moved out of it.
                let wait = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
                wait.poll(cx).map_ok($permit)
            }
        }

        impl<$($life,)? T> std::fmt::Debug for $name<$($life,)? T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.0).finish()
            }
        }
    };

    (@permit $(#[$meta:meta])* $name:ident<$($life:lifetime)?> of $reach:ty) => {
        $(#[$meta])*
        #[must_use = "the room is given back as soon as this is dropped"]
        pub struct $name<$($life,)? T>(pub(super) crate::places::Held<$reach>);

        impl<$($life,)? T> std::fmt::Debug for $name<$($life,)? T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field("places", &self.0.count()).finish()
            }
        }
    };
}

pub(crate) use named_places;
