/** Lockstep's API, SPI and in-memory engine. */
module dev.lockstep {
    requires org.slf4j;
    requires static transitive org.jspecify;
    requires static jdk.jfr;

    exports dev.lockstep;
    exports dev.lockstep.spi;
    exports dev.lockstep.memory;

    uses dev.lockstep.spi.BackendProvider;

    provides dev.lockstep.spi.BackendProvider with
            dev.lockstep.memory.MemoryProvider;
}
