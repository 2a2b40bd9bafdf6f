# A bare 32-bit RISC-V microcontroller (rv32imc) by Debian's gcc-riscv64-unknown-elf and picolibc. That compiler has no C++
# headers: freestanding/ has the few that the core includes, names for C's.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_CXX_COMPILER riscv64-unknown-elf-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(BITREPLAY_CPU rv32imc)
set(flags "-march=rv32imc -misa-spec=2.2 -mabi=ilp32 -mcmodel=medany -msmall-data-limit=0 --specs=picolibc.specs")
foreach(language C CXX ASM)
  set(CMAKE_${language}_FLAGS_INIT "${flags}")
endforeach()
string(APPEND CMAKE_CXX_FLAGS_INIT " -isystem ${CMAKE_CURRENT_LIST_DIR}/freestanding")
